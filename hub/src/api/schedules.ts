import { NewSchedule, Problem, Schedule, ScheduleChanges, ScheduleDetail, SchedulePage } from '@stoker/protocol'
import { z } from 'zod'
import { Firing } from '../schedules/firing.ts'
import { callerOf, guard, ownerScope } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { readChanges, readNewSchedule } from './read-schedule.ts'
import { findSchedule, viewSchedule } from './schedule-views.ts'
import { checkAllButBody } from './validation.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['schedules']
const ScheduleRef = z.object({ id: z.string() })
/** Room for the largest spec and what is around it. */
const bodyLimit = 300 * 1024

const ListQuery = z.strictObject({
  owner: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: z.uuid().optional(),
})

export function addScheduleRoutes(api: Api, context: RouteContext): void {
  const { engine, queries, tokens } = context
  const see = guard(tokens, ['admin', 'submit', 'read'])
  const act = guard(tokens, ['admin', 'submit'])
  const firing = new Firing(context)
  const detail = async (id: string): Promise<ScheduleDetail> => {
    const row = await queries.schedule(id)
    if (row === null) throw new Error(`schedule ${id} is in memory, but not in the store`)
    return { ...viewSchedule(row), spec: JSON.parse(row.spec) }
  }

  api.post('/api/v1/schedules', {
    schema: {
      summary: 'Submit a job again and again, at the times of a cron pattern',
      tags,
      body: NewSchedule,
      response: { 201: ScheduleDetail, ...errors },
    },
    bodyLimit,
    validatorCompiler: checkAllButBody,
    onRequest: act,
    handler: async (request, reply) => {
      const schedule = await readNewSchedule(request.body, context.now(), context)
      const id = context.newId()
      await engine.execute({ kind: 'putSchedule', id, owner: callerOf(request).owner, ...schedule })
      return reply.code(201).send(await detail(id))
    },
  })

  api.get('/api/v1/schedules', {
    schema: {
      summary: 'List schedules, newest first',
      tags,
      querystring: ListQuery,
      response: { 200: SchedulePage, ...errors },
    },
    onRequest: see,
    handler: request => {
      const { owner: asked, limit, cursor } = request.query
      const owner = ownerScope(callerOf(request), asked)
      return engine.read(state => {
        const found = [...state.schedules.values()]
          .filter(one => (owner === null || one.owner === owner) && (cursor === undefined || one.id < cursor))
          .sort((a, b) => (a.id < b.id ? 1 : -1))
        const page = found.slice(0, limit)
        return { schedules: page.map(viewSchedule), next: found.length > limit ? (page.at(-1)?.id ?? null) : null }
      })
    },
  })

  api.get('/api/v1/schedules/:id', {
    schema: {
      summary: 'Show a schedule by id or name',
      tags,
      params: ScheduleRef,
      response: { 200: ScheduleDetail, ...errors },
    },
    onRequest: see,
    handler: async request => detail((await findSchedule(engine, callerOf(request), request.params.id)).id),
  })

  api.patch('/api/v1/schedules/:id', {
    schema: {
      summary: 'Change a schedule; pause it with enabled false',
      tags,
      params: ScheduleRef,
      body: ScheduleChanges,
      response: { 200: ScheduleDetail, ...errors },
    },
    bodyLimit,
    validatorCompiler: checkAllButBody,
    onRequest: act,
    handler: async request => {
      const { id, owner } = await findSchedule(engine, callerOf(request), request.params.id)
      const row = await queries.schedule(id)
      if (row === null) throw new Error(`schedule ${id} is in memory, but not in the store`)
      const changed = await readChanges(request.body, row, context.now(), context)
      await engine.execute({ kind: 'putSchedule', id, owner, ...changed })
      return detail(id)
    },
  })

  api.delete('/api/v1/schedules/:id', {
    schema: {
      summary: 'Remove a schedule; its jobs stay',
      tags,
      params: ScheduleRef,
      response: { 204: z.null(), ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const { id } = await findSchedule(engine, callerOf(request), request.params.id)
      await engine.execute({ kind: 'removeSchedule', id })
      return reply.code(204).send(null)
    },
  })

  api.post('/api/v1/schedules/:id/run', {
    schema: {
      summary: 'Run a schedule now, whether it is due or paused',
      tags,
      params: ScheduleRef,
      response: { 201: Schedule, ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const schedule = await findSchedule(engine, callerOf(request), request.params.id)
      await firing.run(schedule)
      return reply.code(201).send(viewSchedule(await findSchedule(engine, callerOf(request), schedule.id)))
    },
  })
}
