/** Says that there is something to look at, never what: rung twice before anyone looks, it is one look. */
export class Bell {
  #isRung = false
  #wake: (() => void) | null = null
  #signal: AbortSignal | null = null

  readonly ring = (): void => {
    this.#isRung = true
    this.#wake?.()
  }

  /** True when it was rung, false when it stayed quiet that long or the signal was given. */
  async wait(quietMs: number, signal: AbortSignal): Promise<boolean> {
    if (!this.#isRung && !signal.aborted) await this.#next(quietMs, signal)
    const wasRung = this.#isRung
    this.#isRung = false
    return wasRung
  }

  async #next(quietMs: number, signal: AbortSignal): Promise<void> {
    this.#heed(signal)
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, quietMs)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = null
  }

  /** A bell waits many times with the signal of its one listener: both live as long. */
  #heed(signal: AbortSignal): void {
    if (this.#signal === signal) return
    this.#signal?.removeEventListener('abort', this.ring)
    this.#signal = signal
    signal.addEventListener('abort', this.ring, { once: true })
  }
}
