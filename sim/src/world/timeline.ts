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
    this.#order += 1
    const at = Math.max(time, this.#now)
    let hole = this.#runs.length
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      if ((this.#times[parent] ?? 0) <= at) break
      this.#move(parent, hole)
      hole = parent
    }
    this.#put(hole, at, this.#order, run)
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

  /** The last one falls from the top to where it belongs. */
  #removeFirst(): void {
    const time = this.#times.pop() ?? 0
    const order = this.#orders.pop() ?? 0
    const run = this.#runs.pop()
    const size = this.#runs.length
    if (run === undefined || size === 0) return
    let hole = 0
    for (let child = 1; child < size; child = 2 * hole + 1) {
      if (child + 1 < size && this.#isBefore(child + 1, this.#times[child] ?? 0, this.#orders[child] ?? 0)) child += 1
      if (!this.#isBefore(child, time, order)) break
      this.#move(child, hole)
      hole = child
    }
    this.#put(hole, time, order, run)
  }

  #isBefore(index: number, time: number, order: number): boolean {
    const own = this.#times[index] ?? 0
    return own < time || (own === time && (this.#orders[index] ?? 0) < order)
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#times[from] ?? 0, this.#orders[from] ?? 0, this.#runs[from] as Run)
  }

  #put(index: number, time: number, order: number, run: Run): void {
    this.#times[index] = time
    this.#orders[index] = order
    this.#runs[index] = run
  }
}
