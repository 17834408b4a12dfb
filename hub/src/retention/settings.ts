const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const SHORTEST_LOOK_MS = 10_000

/** How long things are kept after the end of their job; unused uploads, after their last use; the journal, from its commits. */
export interface Retention {
  readonly jobsMs: number
  readonly logsMs: number
  readonly artifactsMs: number
  readonly unusedUploadsMs: number
  readonly journalMs: number
}

export const DEFAULT_RETENTION: Retention = {
  jobsMs: 30 * DAY_MS,
  logsMs: 30 * DAY_MS,
  artifactsMs: 30 * DAY_MS,
  unusedUploadsMs: DAY_MS,
  journalMs: 30 * DAY_MS,
}

/** How often to look: hourly, or so often that nothing outlives a short time by more than a quarter. */
export function lookEveryMs(retention: Retention): number {
  const shortest = Math.min(...Object.values(retention))
  return Math.min(HOUR_MS, Math.max(SHORTEST_LOOK_MS, shortest / 4))
}
