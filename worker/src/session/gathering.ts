/** Between two batches of ends: some ends later one commit of the hub is made instead of many. */
const GATHER_MS = 5
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
    this.#ends = 0
    this.#isUrgent = false
    this.#saidAt = now
  }

  /** How much longer; 0 when there is nothing to wait for. */
  waitMs(now: number): number {
    if (this.#ends >= this.#running) return 0
    return Math.max(0, Math.ceil(this.#saidAt + (this.#isUrgent ? HURRY_MS : GATHER_MS) - now))
  }
}
