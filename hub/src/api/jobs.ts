import {
  isTerminal,
  Job,
  JobDetail,
  JobPage,
  type JobRow,
  type JobSpec,
  JobState,
  Problem,
  Refused,
  readSpec,
  Submitted,
  writeSpec,
} from '@stoker/protocol'
import { z } from 'zod'
import type { Queries } from '../store/port.ts'
import { callerOf, guard, ownerScope } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { cursorAfter, parseCursor } from './cursor.ts'
import { findGroup, membersOf } from './group-ref.ts'
import { findJob } from './job-ref.ts'
import { submit } from './submit.ts'
import { refuseValue } from './validation.ts'
import { viewJob, viewJobDetail, viewJobs } from './views.ts'
import { workerByRef } from './worker-views.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const text = z.string().min(1).max(200)
/** What names a job in a path: its id, or the end of it. */
export const JobRef = z.object({ id: z.string() })

const ListQuery = z.strictObject({
  state: z
    .string()
    .transform((list, context) => {
      const names = list.split(',')
      const states = names.flatMap(name => JobState.options.filter(state => state === name))
      if (states.length === names.length) return states
      return refuseValue(context, `allowed: one or more of ${JobState.options.join(', ')}, separated by commas`)
    })
    .optional(),
  type: text.optional(),
  worker: text.optional(),
  name: text.optional(),
  owner: text.optional(),
  group: text.optional(),
  label: z
    .union([z.string(), z.array(z.string()).max(32)])
    .transform(parseLabels)
    .optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z
    .string()
    .transform((given, context) => parseCursor(given) ?? refuseValue(context, 'allowed: the "next" of an earlier page'))
    .optional(),
})

export function addJobRoutes(api: Api, context: RouteContext): void {
  const { queries, engine, tokens } = context
  const see = guard(tokens, ['admin', 'submit', 'read'])
  const act = guard(tokens, ['admin', 'submit'])

  api.get('/api/v1/jobs', {
    schema: {
      summary: 'List jobs, newest first',
      tags: ['jobs'],
      querystring: ListQuery,
      response: { 200: JobPage, ...errors },
    },
    onRequest: see,
    handler: async request => {
      const { state, type, worker, name, owner, group, label, limit, cursor } = request.query
      const filter = {
        owner: ownerScope(callerOf(request), owner),
        states: state ?? null,
        type: type ?? null,
        worker: worker === undefined ? null : await engine.read(live => workerByRef(live, worker)?.id ?? worker),
        name: name ?? null,
        labels: label ?? [],
        seqs: group === undefined ? undefined : membersOf(await findGroup(queries, callerOf(request), group)),
      }
      const { rows, next } = await queries.page(filter, cursor ?? null, limit)
      return { jobs: await viewJobs(context, rows), next: next === null ? null : cursorAfter(next) }
    },
  })

  api.get('/api/v1/jobs/:id', {
    schema: {
      summary: 'Show a job with its spec, result and attempts',
      tags: ['jobs'],
      params: JobRef,
      response: { 200: JobDetail, ...errors },
    },
    onRequest: see,
    handler: async request => viewJobDetail(context, await findJob(queries, callerOf(request), request.params.id)),
  })

  api.post('/api/v1/jobs/:id/cancel', {
    schema: {
      summary: 'Cancel a job: it ends at once if nothing runs, else its program is stopped',
      tags: ['jobs'],
      params: JobRef,
      response: { 202: z.object({ effect: z.enum(['canceled', 'stopping']), job: Job }), ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const row = await findJob(queries, caller, request.params.id)
      const { effect } = await engine.execute({ kind: 'cancel', job: row.seq, by: caller.owner })
      const now = (await queries.jobById(row.id)) ?? row
      if (effect === 'ended')
        throw new Refused('job.ended', `job ${row.id} is ${now.state}; only a job that has not ended can be canceled`)
      return reply.code(202).send({ effect, job: await viewJob(context, now) })
    },
  })

  api.post('/api/v1/jobs/:id/retry', {
    schema: {
      summary: 'Submit an ended job again, as a new job that names the old one',
      tags: ['jobs'],
      params: JobRef,
      response: { 201: Submitted, ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const row = await findJob(queries, callerOf(request), request.params.id)
      if (!isTerminal(row.state))
        throw new Refused('job.not_ended', `job ${row.id} is ${row.state}; only an ended job can be retried`)
      const spec = await specForRetry(queries, row)
      const job = { id: context.newId(), spec, specText: writeSpec(spec), retryOf: row.id }
      return submit(context, reply, { owner: row.owner, jobs: [job], groups: [], key: null, failFast: false })
    },
  })
}

/** As it was asked for last: with its present priority, not held, and waiting only for jobs that have not ended. */
async function specForRetry(queries: Queries, row: JobRow): Promise<JobSpec> {
  const spec = readSpec(row.spec)
  const others = await Promise.all(spec.dependsOn.map(({ job }) => queries.jobById(job)))
  const dependsOn = spec.dependsOn.filter((_, index) => !isTerminal(others[index]?.state ?? 'canceled'))
  return { ...spec, priority: row.priority, hold: false, dependsOn }
}

function parseLabels(given: string | readonly string[], context: z.core.$RefinementCtx) {
  const labels = [given].flat().map(pair => {
    const at = pair.indexOf('=')
    return { key: pair.slice(0, at), value: pair.slice(at + 1), isPair: at > 0 }
  })
  if (labels.every(label => label.isPair)) return labels.map(({ key, value }) => ({ key, value }))
  return refuseValue(context, 'allowed: key=value')
}
