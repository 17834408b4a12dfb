export interface PulseOptions {
  readonly everyMs: number
  /** The least time between two beats, however much they are hurried. */
  readonly leastMs: number
  readonly beat: () => Promise<void>
  readonly failed: (error: unknown) => void
}

/** Does one thing again and again: at its interval, sooner when hurried, never twice at once. */
export class Pulse {
  readonly #options: PulseOptions
  #timer: NodeJS.Timeout | undefined
  #beating: Promise<void> | null = null
  #lastAt = Number.NEGATIVE_INFINITY
  #isHurried = false
  #isStopped = false

  constructor(options: PulseOptions) {
    this.#options = options
  }

  start(inMs = 0): void {
    this.#wait(inMs)
  }

  /** As soon as the least time allows. */
  hurry(): void {
    if (this.#isHurried || this.#isStopped) return
    this.#isHurried = true
    if (this.#beating === null) this.#wait(this.#soonMs())
  }

  /** Nothing happens any more when this resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    await this.#beating
  }

  #soonMs(): number {
    return Math.max(0, this.#lastAt + this.#options.leastMs - performance.now())
  }

  #wait(ms: number): void {
    clearTimeout(this.#timer)
    if (!this.#isStopped) this.#timer = setTimeout(() => void this.#once(), ms)
  }

  async #once(): Promise<void> {
    this.#isHurried = false
    this.#lastAt = performance.now()
    this.#beating = this.#options.beat().catch(this.#options.failed)
    await this.#beating
    this.#beating = null
    this.#wait(this.#isHurried ? this.#soonMs() : this.#options.everyMs)
  }
}
