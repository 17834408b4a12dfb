const FIRST_MS = 5_000
const LONGEST_MS = 300_000

interface Failing {
  readonly count: number
  readonly error: string
  readonly restUntil: number
}

/** Which presets rest because their sessions failed: five seconds, then twice as long each time, at most five minutes. */
export class StartFailures {
  readonly #failing = new Map<string, Failing>()

  failed(preset: string, error: string, now: number): void {
    const count = (this.#failing.get(preset)?.count ?? 0) + 1
    const restUntil = now + Math.min(LONGEST_MS, FIRST_MS * 2 ** (count - 1))
    this.#failing.set(preset, { count, error, restUntil })
  }

  /** One came up, or the preset is another one now: what was is no sign any more. */
  forget(preset: string): void {
    this.#failing.delete(preset)
  }

  of(preset: string, now: number): { readonly lastError: string | null; readonly nextStartAt: number | null } {
    const failing = this.#failing.get(preset)
    if (failing === undefined) return { lastError: null, nextStartAt: null }
    return { lastError: failing.error, nextStartAt: failing.restUntil > now ? failing.restUntil : null }
  }

  resting(now: number): ReadonlySet<string> {
    return new Set([...this.#failing].filter(([, { restUntil }]) => restUntil > now).map(([preset]) => preset))
  }
}
