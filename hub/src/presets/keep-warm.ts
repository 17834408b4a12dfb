/** How the sessions of a preset are doing. */
export interface Warmth {
  readonly live: number
  /** Why the last one that was started failed; null once one has come up. */
  readonly lastError: string | null
  /** When the next one is started after failures. */
  readonly nextStartAt: number | null
}

export type WarmthOf = (preset: string) => Warmth
