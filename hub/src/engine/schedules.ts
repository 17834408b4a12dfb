import type { ChangeOf, ScheduleRow } from '@stoker/protocol'

/** A schedule as memory keeps it; its spec is in its row only. */
export type ScheduleState = Omit<ScheduleRow, 'spec'>

/** Made or changed: what it did so far stays. */
export function scheduleAfter(change: ChangeOf<'schedule'>, known: ScheduleState | undefined): ScheduleState {
  const { id, owner, name, cron, timezone, overlap, catchUp, enabled, nextAt, at } = change
  const fresh = {
    createdAt: at,
    runs: 0,
    lastAt: null,
    lastOutcome: null,
    lastReason: null,
    lastSeq: null,
    lastJob: null,
    lastGroup: null,
  }
  const row = { id, owner, name, cron, timezone, overlap, catchUp, enabled: enabled ? 1 : 0, nextAt }
  return { ...fresh, ...known, ...row }
}

/** What was submitted last stays known through runs that were skipped. */
export function firedSet(change: ChangeOf<'fired'>, known: ScheduleState): Partial<ScheduleState> {
  const { at, nextAt, outcome, reason, seq, jobId, groupId } = change
  const last = { lastAt: at, lastOutcome: outcome, lastReason: reason, nextAt }
  if (outcome !== 'submitted') return last
  return { ...last, runs: known.runs + 1, lastSeq: seq, lastJob: jobId, lastGroup: groupId }
}
