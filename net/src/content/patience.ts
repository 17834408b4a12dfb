import { setTimeout as sleep } from 'node:timers/promises'
import { nextDelayMs } from '../backoff.ts'
import { ContentRefused } from './port.ts'

/** The other side is not there, or not yet, or not for so many at once. */
const AWAY: readonly number[] = [429, 502, 503, 504]
/** It is there and cannot: perhaps soon again. */
const UNABLE: readonly number[] = [500, 507]
/** About five minutes of a hub that answers and yet takes nothing. */
const MAX_REBUFFS = 25

/** How long to go on; `maxAway` failures in a row without an answer end it, none by default. */
export interface PatienceOptions {
  readonly maxAway?: number | undefined
  readonly baseMs?: number | undefined
  readonly maxMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** Told before each wait: nothing moves, and that is known. */
  readonly onWait?: ((error: unknown) => void) | undefined
}

/** Counts what goes wrong between two steps forward, and decides whether to wait or to give up. */
export class Patience {
  readonly #options: PatienceOptions
  #away = 0
  #rebuffs = 0

  constructor(options: PatienceOptions) {
    this.#options = options
  }

  moved(): void {
    this.#away = 0
    this.#rebuffs = 0
  }

  /** Returns after a growing pause, or throws the error because it will not go away. `answered` tells that the other side was there just before. */
  async wait(error: unknown, answered: boolean): Promise<void> {
    const { signal, maxAway = Number.POSITIVE_INFINITY, baseMs = 300, maxMs = 15_000, onWait } = this.#options
    signal?.throwIfAborted()
    if (error instanceof ContentRefused && !AWAY.includes(error.status) && !UNABLE.includes(error.status)) throw error
    const isRebuff = error instanceof ContentRefused ? UNABLE.includes(error.status) : answered
    if (isRebuff) this.#rebuffs += 1
    else this.#away += 1
    if (this.#rebuffs > MAX_REBUFFS || this.#away > maxAway) throw error
    onWait?.(error)
    const attempt = Math.min(16, this.#away + this.#rebuffs - 1)
    await sleep(nextDelayMs({ attempt, baseMs, maxMs, random: Math.random }), undefined, { signal })
  }
}
