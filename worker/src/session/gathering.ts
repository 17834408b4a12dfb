/** Between two batches of ends: some ends later one commit of the hub is made instead of many. The longer programs take, the less it matters to them. */
const LEAST_GATHER_MS = 5
const MOST_GATHER_MS = 20
/** Of the time a program takes, which its place may be idle at worst. */
const GATHERED_SHARE = 1 / 8
/** A longer pause between two ends is one without work, and says nothing about programs. */
const LONGEST_PAUSE_MS = 100
/** Between two batches with output: nobody sees so little, and many programs that print at once share a batch. */
const HURRY_MS = 2

/**
 * Whether what was reported may wait for company. Ends wait for each other only while more programs run than ends wait,
 * so a worker with one program never waits, and one with many never has more than half of its places idle for it.
 * Output waits only for output that left a moment ago: somebody may be looking.
 */
export class Gathering {
  #running = 0
  #ends = 0
  #isUrgent = false
  #saidAt = Number.NEGATIVE_INFINITY
  #endsSaidAt = Number.NEGATIVE_INFINITY
  /** Between one end and the next, the last ones counting most. */
  #pauseMs = 0

  started(): void {
    this.#running += 1
  }

  ended(): void {
    this.#running -= 1
    this.#ends += 1
  }

  hurry(): void {
    this.#isUrgent = true
  }

  /** Everything reported so far has left, or waits for something else. */
  said(now: number): void {
    if (this.#ends > 0) {
      const pauseMs = (now - this.#endsSaidAt) / this.#ends
      if (pauseMs <= LONGEST_PAUSE_MS) this.#pauseMs = (this.#pauseMs + pauseMs) / 2
      this.#endsSaidAt = now
    }
    this.#ends = 0
    this.#isUrgent = false
    this.#saidAt = now
  }

  /** How much longer; 0 when there is nothing to wait for. */
  waitMs(now: number): number {
    if (this.#ends >= this.#running) return 0
    return Math.max(0, Math.ceil(this.#saidAt + (this.#isUrgent ? HURRY_MS : this.#gatherMs) - now))
  }

  get #gatherMs(): number {
    const programMs = this.#pauseMs * (this.#running + this.#ends)
    return Math.max(LEAST_GATHER_MS, Math.min(MOST_GATHER_MS, programMs * GATHERED_SHARE))
  }
}
