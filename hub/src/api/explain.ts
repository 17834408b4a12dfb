import { Explanation, formatDuration, isTerminal, type JobRow, Problem } from '@stoker/protocol'
import type { State } from '../engine/state.ts'
import type { ExplainedJob } from '../scheduler/explain/explain-job.ts'
import { callerOf, guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { isoTimeOrNull } from './iso-time.ts'
import { findJob } from './job-ref.ts'
import { JobRef } from './jobs.ts'
import { viewWaiting, waitingReason } from './waiting-view.ts'

export function addExplainRoute(api: Api, context: RouteContext): void {
  const { queries, engine, tokens, explain } = context

  api.get('/api/v1/jobs/:id/explain', {
    schema: {
      summary: 'Say why a job waits, when it will start and what would start it now',
      tags: ['jobs'],
      params: JobRef,
      response: { 200: Explanation, '4xx': Problem, '5xx': Problem },
    },
    onRequest: guard(tokens, ['admin', 'submit', 'read']),
    handler: async request => {
      const caller = callerOf(request)
      const found = await findJob(queries, caller, request.params.id)
      const look = await engine.read(state => lookAt(state, found, explain(state, found.seq)))
      // It went on while its row was read.
      const row = look.live === null && !isTerminal(found.state) ? ((await queries.jobById(found.id)) ?? found) : found
      const inTheWay = (look.live?.reasons ?? []).flatMap(({ job }) => job ?? [])
      const rows = inTheWay.length === 0 ? [] : await queries.jobsBySeq(inTheWay)
      const seen = rows.filter(other => caller.role === 'admin' || other.owner === caller.owner)
      return view(row, look, new Map(seen.map(({ seq, id }) => [seq, id])))
    },
  })
}

interface Look {
  readonly live: ExplainedJob | null
  readonly state: 'waiting' | 'queued' | 'active' | null
  readonly waitingFor: Explanation['waitingFor']
  readonly worker: string | null
}

function lookAt(state: State, row: JobRow, live: ExplainedJob | null): Look {
  const present = state.queued.has(row.seq) ? 'queued' : state.active.has(row.seq) ? 'active' : null
  const isWaiting = state.waiting.has(row.seq)
  const id = state.active.get(row.seq)?.claim.worker ?? row.worker
  return {
    live,
    state: isWaiting ? 'waiting' : present,
    waitingFor: isWaiting ? viewWaiting({ seq: row.seq, state: 'waiting' }, state) : null,
    worker: id === null ? null : (state.workers.get(id)?.facts.name ?? id),
  }
}

function view(row: JobRow, look: Look, ids: ReadonlyMap<number, string>): Explanation {
  const { live } = look
  const start = live?.start ?? null
  return {
    job: {
      ...{ id: row.id, name: row.name, state: look.state ?? row.state, owner: row.owner },
      priority: live?.bucket.priority ?? row.priority,
    },
    summary: summaryOf(row, look),
    waitingFor: look.waitingFor,
    reasons: (live?.reasons ?? []).map(reason => ({
      ...reason,
      job: reason.job === null ? null : (ids.get(reason.job) ?? null),
    })),
    position: live?.position ?? null,
    start: start === null ? null : { ...start, p50: isoTimeOrNull(start.p50), p90: isoTimeOrNull(start.p90) },
    changes: [...(live?.changes ?? [])],
  }
}

function summaryOf(row: JobRow, { live, state, waitingFor, worker }: Look): string {
  if (waitingFor !== null) return waitingReason(waitingFor)
  if (live === null || state === null) return endedSummary(row, worker)
  if (live.summary !== undefined) return live.summary
  const many = `${live.couldRun} of ${live.workers} known ${live.workers === 1 ? 'worker' : 'workers'}`
  if (state === 'active') {
    const here = `${row.attemptState ?? 'active'} on ${worker} (attempt ${row.attempts})`
    return row.type === 'task' ? `${here}, in a session there` : `${here}; ${many} could run it`
  }
  if (live.workers === 0) return 'no worker has joined this hub yet'
  if (live.couldRun === 0) return 'no worker that is known could ever run it'
  const [first] = live.reasons
  if (first?.codes.includes('owner.limit') === true) return first.text
  const isFree = live.reasons.every(({ when }) => when === 'never')
  return isFree ? 'it is about to start' : `${many} could run it, ${live.couldRun === 1 ? 'not' : 'none of them'} now`
}

function endedSummary(row: JobRow, worker: string | null): string {
  const from = row.placedAt ?? row.endedAt
  const ran =
    from === null || row.endedAt === null || row.attempts === 0 ? '' : ` after ${formatDuration(row.endedAt - from)}`
  const where = worker === null || row.attempts === 0 ? '' : ` on ${worker}`
  const tries = row.attempts > 1 ? ` in attempt ${row.attempts}` : ''
  const why = (row.reason ?? row.error ?? '').split('\n', 1).join('')
  if (why.startsWith(row.state)) return `it has ended: ${why}`
  return `it has ended: ${row.state}${where}${ran}${tries}${why === '' ? '' : `: ${why}`}`
}
