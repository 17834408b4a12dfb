import { isTerminal, type JobRow } from '@stoker/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { DialectCaller } from '../../../serving/dialect-caller.ts'
import { ANYONE, admit, READERS, SUBMITTERS } from './admit.ts'
import { badRequest, ConsumerError } from './consumer-error.ts'
import type { ConsumerContext } from './context.ts'
import { findJob } from './find-job.ts'
import { logTail } from './job-log.ts'
import { JOB_STATES, jobRecord, wireState } from './job-record.ts'

const MOST_JOBS = 1000
const SHOWN_LINES = 100
const MOST_LINES = 10_000
const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(MOST_JOBS).default(50),
  cursor: z.coerce.number().int().min(0).optional(),
})
const LogsQuery = z.object({ limit: z.coerce.number().int().min(1).max(MOST_LINES).default(1000) })
type JobRequest = FastifyRequest<{ Params: { id: string } }>

/** Looking at jobs, and ending them. */
export function addJobRoutes(service: FastifyInstance, context: ConsumerContext): void {
  const { queries, engine } = context

  async function find(request: JobRequest, roles = READERS): Promise<{ row: JobRow; caller: DialectCaller }> {
    const caller = await admit(context, request, roles)
    return { caller, row: await findJob(queries, caller, request.params.id) }
  }

  async function recordOf(row: JobRow, lines: number) {
    const { lines: logs } = await logTail(context, row, lines)
    return { ...(await engine.read(state => jobRecord(context, row, state))), logs }
  }

  service.get('/api/jobs', async request => {
    const caller = await admit(context, request, READERS)
    const { limit, cursor } = readQuery(ListQuery, request.query)
    const owner = caller.role === 'admin' ? null : caller.owner
    const filter = { owner, states: null, type: null, worker: null, name: null, labels: [] }
    const { rows, next } = await queries.page(filter, cursor ?? null, limit)
    const jobs = await engine.read(state => rows.map(row => jobRecord(context, row, state)))
    return { success: true, jobs, count: jobs.length, ...(next === null ? {} : { next_cursor: next }) }
  })

  service.get('/api/jobs/:id', async (request: JobRequest) => {
    const { row } = await find(request)
    return { success: true, ...(await recordOf(row, SHOWN_LINES)) }
  })

  service.get('/api/jobs/:id/logs', async (request: JobRequest) => {
    const { row } = await find(request)
    const { lines, isCut } = await logTail(context, row, readQuery(LogsQuery, request.query).limit)
    return { success: true, logs: lines, ...(isCut ? { truncated: true } : {}) }
  })

  service.delete('/api/jobs/:id', async (request: JobRequest) => {
    const { row, caller } = await find(request, SUBMITTERS)
    return cancel(row, caller)
  })

  service.put('/api/jobs/:id', async (request: JobRequest) => {
    const caller = await admit(context, request, ANYONE)
    const body = readUpdate(request.body)
    const told = await context.workers?.update(request.params.id, caller, body)
    if (told !== undefined && told !== null) return told
    if (!SUBMITTERS.includes(caller.role))
      throw new ConsumerError(403, 'Forbidden', `the token has the role "${caller.role}", and holds no such attempt`)
    const row = await findJob(queries, caller, request.params.id)
    return update(row, caller, body)
  })

  /** The state of a job is what its worker says: others can cancel it, and change its priority before it starts. */
  async function update(row: JobRow, caller: DialectCaller, body: z.output<typeof Update>) {
    const { status, priority, ...others } = body
    const now = wireState(row)
    if (status === 'cancelled' && now !== 'cancelled') await cancel(row, caller)
    else if (status !== undefined && status !== now)
      throw new ConsumerError(409, 'Not allowed', `the job is ${now}; only its worker can make it ${status}`)
    if (priority !== undefined) await setPriority(row, priority)
    const found = (await queries.jobById(row.id)) ?? row
    const ignored = Object.keys(others)
    return { success: true, ...(await recordOf(found, SHOWN_LINES)), ...(ignored.length === 0 ? {} : { ignored }) }
  }

  async function setPriority(row: JobRow, priority: number): Promise<void> {
    const { effect } = await engine.execute({ kind: 'setPriority', job: row.seq, priority })
    if (effect !== 'done')
      throw new ConsumerError(
        409,
        'Not allowed',
        `the job is ${wireState(row)}; only one that has not started changes its priority`,
      )
  }

  async function cancel(row: JobRow, caller: DialectCaller) {
    const { effect } = await engine.execute({ kind: 'cancel', job: row.seq, by: caller.owner })
    const now = (await queries.jobById(row.id)) ?? row
    if (effect === 'ended')
      throw new ConsumerError(
        409,
        'Job has ended',
        `job ${row.id} is ${wireState(now)}; only a job that has not ended can be cancelled`,
      )
    const message = isTerminal(now.state) ? 'Job cancelled' : 'Job is being stopped'
    return { success: true, message, job_id: row.id, status: wireState(now) }
  }
}

const Update = z.looseObject({
  status: z.enum(JOB_STATES).optional(),
  priority: z.int().min(-100).max(100).optional(),
})

function readUpdate(body: unknown): z.output<typeof Update> {
  const parsed = Update.safeParse(body ?? {})
  if (parsed.success) return parsed.data
  throw badRequest(issueText(parsed.error, `status: one of ${JOB_STATES.join(', ')}; priority: -100 to 100`))
}

function readQuery<T extends z.ZodType>(schema: T, query: unknown): z.output<T> {
  const parsed = schema.safeParse(query)
  if (parsed.success) return parsed.data
  throw badRequest(issueText(parsed.error, 'see the documentation of this route'))
}

function issueText({ issues }: z.ZodError, allowed: string): string {
  const [first] = issues
  return `${first?.path.join('.') || 'the body'}: ${first?.message}; allowed: ${allowed}`
}
