import type { JobRow } from '@stoker/protocol'
import { activeJob } from '../active-job.ts'
import type { JournalEnd, LiveJob, Recovery } from '../port.ts'
import type { MemoryRows } from './tables.ts'

/** As in the durable store, so that a visitor is tested with several slices. */
const SLICE = 2_000

/** Reads all live state from the rows alone, as after a crash. */
export function recoverFrom(
  rows: MemoryRows,
  visit: (jobs: readonly LiveJob[]) => void,
  journal: JournalEnd,
  deletedSeq: number,
): Recovery {
  const jobs = rows.job.ordered()
  const live = jobs.flatMap(job => liveJob(job) ?? [])
  for (let from = 0; from < live.length; from += SLICE) visit(live.slice(from, from + SLICE))
  return {
    epoch: Number(rows.meta.get('epoch')?.value ?? 0),
    lastSeq: Math.max(deletedSeq, jobs.at(-1)?.seq ?? 0),
    journal,
    buckets: [...rows.bucket.ordered()],
    workers: [...rows.worker.ordered()],
    tokens: [...rows.token.ordered()],
    webhooks: [...rows.webhook.ordered()],
    secrets: rows.secret.ordered().map(({ sealed: _, ...secret }) => secret),
    counters: [...rows.counter.ordered()],
    groups: rows.jobGroup.ordered().filter(group => group.endedAt === null),
    limits: [...rows.ownerLimits.ordered()],
    schedules: [...rows.schedule.ordered()],
    ownerUses: [...rows.ownerUse.ordered()],
    devices: [...rows.device.ordered()],
    claims: rows.attempt.ordered().filter(attempt => attempt.claimed === 1),
    active: jobs.filter(job => job.state === 'active').map(activeJob),
    edges: rows.edge.ordered().flatMap(edge => {
      const other = rows.job.get(edge.dependency)
      return other === undefined ? [] : [{ ...edge, id: other.id, state: other.state }]
    }),
    holds: [...rows.hold.ordered()],
    sessions: rows.session.ordered().filter(session => session.endedAt === null),
  }
}

function liveJob({ seq, bucket, state, attempts, failures, lost, dueAt }: JobRow): LiveJob | null {
  if (state !== 'waiting' && state !== 'queued' && state !== 'active') return null
  return { seq, bucket, state, attempts, failures, lost, dueAt }
}
