import type { Change, JournalBody } from '@stoker/protocol'
import { eventText } from '../serving/sse.ts'
import type { JournalRow } from '../store/port.ts'
import type { Caller } from './auth.ts'
import { isoTime } from './iso-time.ts'
import type { JobName, JobNames } from './job-names.ts'

type Public = Readonly<Record<string, unknown>> & { readonly c: string }

/** Commits as the caller may see them; one of which nothing is to be seen leaves no event. */
export async function feedEvents(rows: readonly JournalRow[], caller: Caller, names: JobNames): Promise<string> {
  const commits = rows.map(({ n, at, body }) => ({ n, at, changes: (JSON.parse(body) as JournalBody).changes }))
  for (const { changes } of commits) for (const change of changes) learnNames(change, names)
  const jobs = await names.resolve(commits.flatMap(({ changes }) => changes.flatMap(c => ('job' in c ? [c.job] : []))))
  return commits
    .map(({ n, at, changes }) => {
      const seen = changes.flatMap(change => visible(change, caller, jobs))
      if (seen.length === 0) return ''
      return eventText('change', JSON.stringify({ n, at: isoTime(at), changes: seen }), String(n))
    })
    .join('')
}

function learnNames(change: Change, names: JobNames): void {
  if (change.c !== 'submitted') return
  for (const { seq, id } of change.jobs) names.learn(seq, { id, owner: change.owner })
}

/** Changes of jobs carry the id people know; hashes of secrets and keys stay inside. */
function visible(change: Change, caller: Caller, jobs: ReadonlyMap<number, JobName>): readonly Public[] {
  const isAdmin = caller.role === 'admin'
  if ('job' in change) {
    const job = jobs.get(change.job)
    return job !== undefined && (isAdmin || job.owner === caller.owner) ? [{ ...change, id: job.id }] : []
  }
  if (change.c === 'submitted') {
    const { key: _, ...rest } = change
    return isAdmin || change.owner === caller.owner ? [rest] : []
  }
  if (change.c === 'group' || change.c === 'ownerLimits')
    return isAdmin || change.owner === caller.owner ? [change] : []
  if (change.c === 'schedule') {
    const { spec: _, ...rest } = change
    return isAdmin || change.owner === caller.owner ? [rest] : []
  }
  if (change.c === 'worker') {
    const { secretHash: _, bootId: __, ...rest } = change
    return [rest]
  }
  if (change.c === 'workerDrained' || change.c === 'workerRemoved') return [change]
  if (!isAdmin) return []
  if (change.c !== 'token') return [change]
  const { hash: _, ...rest } = change
  return [rest]
}
