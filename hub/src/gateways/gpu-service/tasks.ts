import { isTerminal, type JobRow } from '@stoker/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { AnswerError, invalidRequest, notFound } from './answer-error.ts'
import { type KeyHolder, keyHolder } from './api-key.ts'
import { readBody } from './bodies.ts'
import type { TaskDesk } from './task-desk.ts'
import { DIALECT, TASK_LABELS } from './task-labels.ts'
import { jobStates, TASK_STATES, taskState } from './task-status.ts'
import { viewTask, viewTaskDetail } from './task-views.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const ListQuery = z.object({
  status: z.enum(TASK_STATES).optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'a cursor is what a list gave as next_cursor')
    .optional(),
})
type TaskRequest = FastifyRequest<{ Params: { id: string } }>

/** Looking at tasks, following them again, and ending them. */
export function addTaskRoutes(service: FastifyInstance, desk: TaskDesk): void {
  const { context } = desk
  const { queries, engine } = context

  async function find(request: FastifyRequest, id: string): Promise<{ row: JobRow; holder: KeyHolder }> {
    const holder = await keyHolder(context, request)
    const row = UUID.test(id) ? await queries.jobById(id.toLowerCase()) : null
    if (row === null || (!holder.isAdmin && row.owner !== holder.owner)) throw notFound('Task', shown(id))
    return { row, holder }
  }

  service.get('/api/tasks', async request => {
    const holder = await keyHolder(context, request)
    const { status, limit, cursor } = readBody(ListQuery, request.query)
    const filter = {
      owner: holder.isAdmin ? null : holder.owner,
      states: status === undefined ? null : jobStates(status),
      type: null,
      worker: null,
      name: null,
      labels: [{ key: TASK_LABELS.dialect, value: DIALECT }],
    }
    const { rows, next } = await queries.page(filter, cursor === undefined ? null : Number(cursor), limit)
    return { tasks: rows.map(row => viewTask(row, desk.views)), next_cursor: next === null ? null : String(next) }
  })

  service.get('/api/tasks/:id', async (request: TaskRequest) => {
    const { row } = await find(request, request.params.id)
    return viewTaskDetail(row, { ...desk.views, queries, streams: context.streams })
  })

  service.get('/api/tasks/:id/events', async (request: TaskRequest, reply: FastifyReply) => {
    const { row, holder } = await find(request, request.params.id)
    return desk.resume(reply, holder, row, lastEventId(request))
  })

  service.post('/api/tasks/:id/cancel', async (request: TaskRequest) => {
    const { row, holder } = await find(request, request.params.id)
    if (isTerminal(row.state)) throw new AnswerError(409, `Task ${row.id} has ended: ${taskState(row.state)}`)
    await engine.execute({ kind: 'cancel', job: row.seq, by: holder.owner })
    const now = (await queries.jobById(row.id)) ?? row
    const isOver = isTerminal(now.state)
    return {
      success: true,
      task_id: row.id,
      status: taskState(now.state),
      message: isOver ? 'Task cancelled' : 'Task is being stopped; its GPU is free when its program is gone',
    }
  })
}

/** 0 when nothing was seen yet. */
function lastEventId({ headers }: FastifyRequest): number {
  const text = headers['last-event-id']
  if (text === undefined || text === '') return 0
  if (typeof text === 'string' && /^\d{1,15}$/.test(text)) return Number(text)
  throw invalidRequest([
    { type: 'int_parsing', loc: ['header', 'last-event-id'], msg: 'the id of an event is a whole number' },
  ])
}

function shown(id: string): string {
  return id.length > 80 ? `${id.slice(0, 79)}…` : id
}
