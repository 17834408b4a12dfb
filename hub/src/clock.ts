import type { Now } from './engine/state.ts'

/** One tick of lease time, whatever really passed: a suspended laptop or a stalled hub expires nothing. */
const TICK_MS = 1000

/** Wall time, and a lease time that advances at most one second per tick. */
export class Clock {
  #lease = 0
  #tickedAt: number
  readonly #monotonic: () => number

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic
    this.#tickedAt = monotonic()
  }

  tick(): void {
    const at = this.#monotonic()
    this.#lease += Math.min(TICK_MS, at - this.#tickedAt)
    this.#tickedAt = at
  }

  readonly now = (): Now => ({
    wall: Date.now(),
    lease: this.#lease + Math.min(TICK_MS, this.#monotonic() - this.#tickedAt),
  })
}
