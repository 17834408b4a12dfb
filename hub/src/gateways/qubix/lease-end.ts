import type { ActiveJob, Now } from '../../engine/state.ts'

/** Old workers are silent while a data set loads; one that makes images, while a model does. */
const LEASE_MS = 5 * 60_000
const LONG_LEASE_MS = 30 * 60_000
/** How long a success may follow a failure to report it. */
const HELD_MS = 30_000
/** So many attempts may be lost: the next would likely be, too. */
export const MOST_LOST = 3
/** A worker that lost a job leaves such jobs to others for this long: two heartbeats of any worker. */
export const REST_MS = 70_000

/** unreported: no success followed a failure to report. */
export interface LeaseEnd {
  readonly end: 'canceled' | 'timed_out' | 'lost' | 'unreported'
  readonly reason: string
}

interface Terms {
  readonly type: string | undefined
  readonly timeoutMs: number | null
  readonly lostAfterMs: number | null
}

/** Why an attempt is over though its worker says nothing; null while it is not. */
export function leaseEnd(
  { cancelBy, newsAt, runningAt, placedAt }: ActiveJob,
  { type, timeoutMs, lostAfterMs }: Terms,
  held: { readonly error: string } | null,
  now: Now,
): LeaseEnd | null {
  if (cancelBy !== null) return { end: 'canceled', reason: cancelBy }
  const silentMs = now.lease - newsAt
  if (held !== null) return silentMs >= HELD_MS ? { end: 'unreported', reason: held.error } : null
  if (timeoutMs !== null && now.wall - (runningAt ?? placedAt) >= timeoutMs)
    return { end: 'timed_out', reason: 'Task timeout exceeded' }
  const leaseMs = lostAfterMs ?? (type === 'stable_diffusion' ? LONG_LEASE_MS : LEASE_MS)
  if (!(silentMs >= leaseMs)) return null
  return { end: 'lost', reason: `no progress for ${Math.round(silentMs / 1000)} s` }
}
