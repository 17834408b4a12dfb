import type { Now } from '../../../hub/src/engine/state.ts'

const TICK_MS = 1000
/** Any day will do; epochs are seconds of it. */
export const WALL_START_MS = 1_800_000_000_000

/** The hub's two times: a wall clock that may jump, and a lease time that advances at most a second a tick. */
export class SimClock {
  readonly #monotonic: () => number
  readonly #skewMs: () => number
  #lease = 0
  #tickedAt: number

  constructor(monotonic: () => number, skewMs: () => number) {
    this.#monotonic = monotonic
    this.#skewMs = skewMs
    this.#tickedAt = monotonic()
  }

  tick(): void {
    const at = this.#monotonic()
    this.#lease += Math.min(TICK_MS, at - this.#tickedAt)
    this.#tickedAt = at
  }

  readonly now = (): Now => ({
    wall: Math.floor(WALL_START_MS + this.#monotonic() + this.#skewMs()),
    lease: this.#lease + Math.min(TICK_MS, this.#monotonic() - this.#tickedAt),
  })
}
