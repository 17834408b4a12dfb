import type { JobRow, JobState, RowWrite } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'

type Ended = 'succeeded' | 'failed' | 'canceled' | 'timed_out'

/** Rows of ended jobs go; a job with an attempt that still claims resources stays until that is released. */
export function decideForget(
  state: State,
  { jobs }: Extract<Command, { kind: 'forget' }>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['forget'] {
  const claimed = claimedJobs(state)
  const groups = new Map<string, { owner: string; state: Ended; jobs: JobRow[] }>()
  for (const job of jobs) {
    if (!isEnded(job.state) || claimed.has(job.seq)) continue
    const group = groups.get(`${job.state} ${job.owner}`) ?? { owner: job.owner, state: job.state, jobs: [] }
    group.jobs.push(job)
    groups.set(`${job.state} ${job.owner}`, group)
  }
  for (const { owner, state: end, jobs: gone } of groups.values()) {
    emit.rows(gone.flatMap(labelDeletes))
    emit.change({ c: 'forgotten', owner, state: end, jobs: gone.map(({ seq }) => seq), at: now.wall })
  }
  return { forgotten: [...groups.values()].flatMap(group => group.jobs.map(({ seq }) => seq)) }
}

function claimedJobs(state: State): ReadonlySet<number> {
  const claims = [...state.workers.values()].flatMap(({ lost }) => [...lost.values()])
  return new Set(claims.map(({ claim }) => claim.job))
}

function isEnded(state: JobState): state is Ended {
  return state !== 'waiting' && state !== 'queued' && state !== 'active'
}

/** Labels are found by their values, which only the job's row tells. */
function labelDeletes({ seq, labels }: JobRow): RowWrite[] {
  const pairs: [string, string][] = labels === null ? [] : Object.entries(JSON.parse(labels))
  return pairs.map(([key, value]) => ({ op: 'delete', table: 'label', key: { key, value, job: seq } }))
}
