/** Says that there is something to look at, never what: rung twice before anyone looks, it is one look. */
export class Bell {
  #isRung = false
  #wake: (() => void) | null = null

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
    let timer: NodeJS.Timeout | undefined
    try {
      await new Promise<void>(resolve => {
        this.#wake = resolve
        timer = setTimeout(resolve, quietMs)
        signal.addEventListener('abort', this.ring, { once: true })
      })
    } finally {
      clearTimeout(timer)
      this.#wake = null
      signal.removeEventListener('abort', this.ring)
    }
  }
}
