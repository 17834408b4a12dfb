import { isTerminal, type JobRow, Refused } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import type { DialectCaller } from '../../../serving/dialect-caller.ts'
import type { JobFilter, Page } from '../../../store/port.ts'
import { jobStatus } from '../job-status.ts'
import { CUSTOMERS, callerOf, LOOKERS } from './caller.ts'
import type { ConsumerContext } from './context.ts'
import { findJob } from './find-job.ts'
import { JOB_LABELS } from './job-labels.ts'
import { viewJobDetails, viewJobs } from './job-views.ts'

const NEWEST = 50
/** A page may be short and still go on. */
const MOST_PAGES = 10

interface ById {
  Params: { id: string }
}

/** Looking at jobs and ending them. */
export function addJobRoutes(scope: FastifyInstance, context: ConsumerContext): void {
  scope.get<ById>('/api/jobs/:id', async request => {
    const row = await findJob(context, await callerOf(context, request, LOOKERS), request.params.id)
    return viewJobDetails(context, row)
  })

  scope.get<ById>('/api/jobs/user/:id', async request => {
    const caller = await callerOf(context, request, LOOKERS)
    return viewJobs(context, await newestOf(context, caller, request.params.id))
  })

  scope.post<ById>('/api/jobs/:id/cancel', async request => {
    const caller = await callerOf(context, request, CUSTOMERS)
    const row = await findJob(context, caller, request.params.id)
    if (!isTerminal(row.state)) await context.engine.execute({ kind: 'cancel', job: row.seq, by: caller.owner })
    const now = (await context.queries.jobById(row.id)) ?? row
    const status = jobStatus(now)
    if (isTerminal(now.state) && status !== 'CANCELLED')
      throw new Refused('job.ended', `job ${row.id} is ${status}; only one that has not ended can be cancelled`)
    return { success: true, status, cancelRequested: now.cancelBy !== null || status === 'CANCELLED' }
  })

  scope.get<{ Params: { id: string; '*': string } }>('/api/jobs/:id/artifacts/*', async (request, reply) => {
    const { id, '*': path } = request.params
    const row = await findJob(context, await callerOf(context, request, LOOKERS), id)
    const file = await context.queries.artifact(row.seq, row.attempts, path)
    if (file === null)
      throw new Refused('artifact.not_found', `job ${row.id} left no file ${JSON.stringify(path.slice(0, 200))}`)
    reply
      .header('content-type', 'application/octet-stream')
      .header('content-length', file.size)
      .header('content-disposition', 'attachment')
      .header('x-content-type-options', 'nosniff')
      .header('etag', `"${file.sha256}"`)
    return reply.send(file.size === 0 ? '' : await context.blobs.read(file, 0, file.size - 1))
  })
}

/** A user is an owner of jobs, or a name its clients gave them. */
async function newestOf(context: ConsumerContext, caller: DialectCaller, user: string): Promise<JobRow[]> {
  const { queries, engine } = context
  const isAdmin = caller.role === 'admin'
  const isOwner = isAdmin ? await engine.read(({ counters }) => counters.has(user)) : user === caller.owner
  const filter: JobFilter = {
    owner: isAdmin ? (isOwner ? user : null) : caller.owner,
    states: null,
    type: null,
    worker: null,
    name: null,
    labels: isOwner ? [] : [{ key: JOB_LABELS.user, value: user }],
  }
  const rows: JobRow[] = []
  let before: number | null = null
  for (let pages = 0; pages < MOST_PAGES && rows.length < NEWEST; pages += 1) {
    const page: Page = await queries.page(filter, before, NEWEST - rows.length)
    rows.push(...page.rows)
    if (page.next === null) break
    before = page.next
  }
  return rows
}
