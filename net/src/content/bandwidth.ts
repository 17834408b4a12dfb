import { setTimeout as sleep } from 'node:timers/promises'

/** What may pass at once after a rest: enough for a smooth stream, too little to matter. */
const BURST_MS = 200

export interface BandwidthClock {
  readonly now: () => number
  readonly wait: (ms: number, signal: AbortSignal | undefined) => Promise<unknown>
}

const CLOCK: BandwidthClock = {
  now: () => performance.now(),
  wait: (ms, signal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
}

/** A cap that all transfers of a worker share, in both directions together: each waits until its bytes are paid for. */
export class Bandwidth {
  readonly #bytesPerMs: number
  readonly #clock: BandwidthClock
  #paidUntil: number

  constructor(bytesPerSecond: number, clock: BandwidthClock = CLOCK) {
    this.#bytesPerMs = bytesPerSecond / 1000
    this.#clock = clock
    this.#paidUntil = clock.now()
  }

  async take(bytes: number, signal?: AbortSignal): Promise<void> {
    const now = this.#clock.now()
    this.#paidUntil = Math.max(this.#paidUntil, now - BURST_MS) + bytes / this.#bytesPerMs
    const waitMs = this.#paidUntil - now
    if (waitMs > 0) await this.#clock.wait(waitMs, signal)
  }
}
