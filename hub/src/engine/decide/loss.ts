import type { ActiveJob, Now } from '../state.ts'
import type { Emit } from './emit.ts'

/** After so many lost attempts the fault is more likely the job's than its workers'. */
export const MAX_LOST = 5

/** The lease is over: the job goes back to its queue and the attempt may still return; a job that was being canceled or was lost too often ends here. */
export function loseAttempt(active: ActiveJob, reason: string, now: Now, emit: Emit, most = MAX_LOST): void {
  const { job, epoch, attempt } = active.claim
  const { cancelBy } = active
  const lost = active.lost + 1
  emit.change({ c: 'lost', job, epoch, attempt, at: now.wall, lost, reason })
  if (cancelBy !== null) emit.change({ c: 'ended', job, state: 'canceled', reason: cancelBy, at: now.wall })
  else if (lost >= most)
    emit.change({ c: 'ended', job, state: 'failed', reason: tooOften(lost, reason, most), at: now.wall })
}

export function tooOften(lost: number, reason: string, most = MAX_LOST): string {
  return `lost ${lost} attempts, at most ${most} are tried; last: ${reason}`
}
