const DAY_MS = 86_400_000

/** How long things are kept after the end of their job; unused uploads, after their last use. */
export interface Retention {
  readonly jobsMs: number
  readonly logsMs: number
  readonly artifactsMs: number
  readonly unusedUploadsMs: number
}

export const DEFAULT_RETENTION: Retention = {
  jobsMs: 30 * DAY_MS,
  logsMs: 30 * DAY_MS,
  artifactsMs: 30 * DAY_MS,
  unusedUploadsMs: DAY_MS,
}
