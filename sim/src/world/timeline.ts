type Run = () => void

/** Virtual time: a heap of what happens next; equal times keep the order in which they were asked for. */
export class Timeline {
  #now = 0
  #order = 0
  #steps = 0
  readonly #times: number[] = []
  readonly #orders: number[] = []
  readonly #runs: Run[] = []

  get now(): number {
    return this.#now
  }

  get steps(): number {
    return this.#steps
  }

  in(ms: number, run: Run): void {
    this.at(this.#now + Math.max(0, ms), run)
  }

  at(time: number, run: Run): void {
    const at = Math.max(time, this.#now)
    this.#order += 1
    this.#times.push(at)
    this.#orders.push(this.#order)
    this.#runs.push(run)
    this.#rise(this.#times.length - 1)
  }

  /** False when nothing is left to happen. */
  step(): boolean {
    const run = this.#runs[0]
    if (run === undefined) return false
    this.#now = this.#times[0] ?? this.#now
    this.#steps += 1
    this.#removeFirst()
    run()
    return true
  }

  #removeFirst(): void {
    const last = this.#times.length - 1
    this.#swap(0, last)
    this.#times.pop()
    this.#orders.pop()
    this.#runs.pop()
    this.#sink()
  }

  #rise(from: number): void {
    let child = from
    while (child > 0) {
      const parent = (child - 1) >> 1
      if (this.#isBefore(parent, child)) return
      this.#swap(parent, child)
      child = parent
    }
  }

  #sink(): void {
    const size = this.#times.length
    let parent = 0
    for (;;) {
      const left = parent * 2 + 1
      if (left >= size) return
      const right = left + 1
      const child = right < size && this.#isBefore(right, left) ? right : left
      if (this.#isBefore(parent, child)) return
      this.#swap(parent, child)
      parent = child
    }
  }

  #isBefore(a: number, b: number): boolean {
    const timeA = this.#times[a] ?? 0
    const timeB = this.#times[b] ?? 0
    return timeA < timeB || (timeA === timeB && (this.#orders[a] ?? 0) < (this.#orders[b] ?? 0))
  }

  #swap(a: number, b: number): void {
    swapIn(this.#times, a, b)
    swapIn(this.#orders, a, b)
    swapIn(this.#runs, a, b)
  }
}

function swapIn<T>(list: T[], a: number, b: number): void {
  const kept = list[a] as T
  list[a] = list[b] as T
  list[b] = kept
}
