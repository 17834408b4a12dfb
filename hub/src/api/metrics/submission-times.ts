const RECENT = 2048
const OLD = 2048

interface Mark {
  readonly seq: number
  readonly at: number
}

/** When jobs were submitted, by seq, from a bounded number of marks: exact for the last thousand submits, near for older ones; null before the first mark of this process. */
export class SubmissionTimes {
  #recent: Mark[] = []
  #old: Mark[] = []
  /** Old marks lie at least this far apart. */
  #gapMs = 1

  mark(seq: number, at: number): void {
    this.#recent.push({ seq, at })
    if (this.#recent.length < RECENT) return
    this.#old = thinned([...this.#old, ...this.#recent.splice(0, RECENT / 2)], this.#gapMs)
    while (this.#old.length > OLD) {
      this.#gapMs *= 2
      this.#old = thinned(this.#old, this.#gapMs)
    }
  }

  at(seq: number): number | null {
    return lastUpTo(this.#recent, seq) ?? lastUpTo(this.#old, seq)
  }
}

function thinned(marks: readonly Mark[], gapMs: number): Mark[] {
  let last = Number.NEGATIVE_INFINITY
  return marks.filter(({ at }) => {
    if (at - last < gapMs) return false
    last = at
    return true
  })
}

function lastUpTo(marks: readonly Mark[], seq: number): number | null {
  let low = 0
  let high = marks.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((marks[middle]?.seq ?? 0) <= seq) low = middle + 1
    else high = middle
  }
  return marks[low - 1]?.at ?? null
}
