import {
  Job,
  type JobRow,
  NewSession,
  NewTask,
  Problem,
  Refused,
  SessionEnded,
  SessionPage,
  SessionPhase,
  SessionView,
} from '@stoker/protocol'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { newJobs } from '../engine/new-jobs.ts'
import { callerOf, guard, ownerScope } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { cursorAfter, parseCursor } from './cursor.ts'
import { readSpecs } from './read-specs.ts'
import { findSession, liveSession } from './session-ref.ts'
import { viewSessions } from './session-views.ts'
import { acceptJobs, idempotencyKey, SubmitQuery } from './submit.ts'
import { checkAllButBody, checkAndKeepBody, refuseValue } from './validation.ts'
import { viewJob } from './views.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['sessions']
const SessionRef = z.object({ id: z.string() })
const MAX_BODY_BYTES = 1024 * 1024

const ListQuery = z.strictObject({
  state: SessionPhase.optional(),
  preset: z.string().min(1).max(400).optional(),
  owner: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
  cursor: z
    .string()
    .transform((given, context) => parseCursor(given) ?? refuseValue(context, 'allowed: the "next" of an earlier page'))
    .optional(),
})

/** Programs that stay alive between tasks; a session is a job, so what jobs can do it can too. */
export function addSessionRoutes(api: Api, context: RouteContext): void {
  const { queries, engine, tokens } = context
  const see = guard(tokens, ['admin', 'submit', 'read'])
  const act = guard(tokens, ['admin', 'submit'])

  async function viewOf(row: JobRow): Promise<SessionView> {
    const [view] = await viewSessions(context, [(await queries.jobById(row.id)) ?? row])
    if (view === undefined) throw new Error(`session ${row.id} has no view`)
    return view
  }

  async function accept(request: FastifyRequest, spec: unknown, failFast: boolean): Promise<JobRow> {
    const { owner, role } = callerOf(request)
    const bytes = Number(request.headers['content-length'] ?? Number.NaN)
    const specs = await readSpecs(spec, bytes, context)
    const { jobs, groups } = newJobs(specs, context.newId)
    const key = idempotencyKey(request, jobs, groups)
    const isAdmin = role === 'admin'
    const { firstSeq } = await acceptJobs(context, { owner, jobs, groups, key, failFast, isAdmin })
    const [row] = await queries.jobsBySeq([firstSeq])
    if (row === undefined) throw new Error(`job ${firstSeq} was accepted, but the store does not know it`)
    return row
  }

  api.post('/api/v1/sessions', {
    schema: {
      summary: 'Start a session: a job whose program stays alive and takes tasks',
      tags,
      querystring: SubmitQuery,
      body: NewSession,
      response: { 201: SessionView, ...errors },
    },
    bodyLimit: MAX_BODY_BYTES,
    validatorCompiler: checkAllButBody,
    onRequest: act,
    handler: async (request, reply) => {
      const row = await accept(request, sessionSpec(request.body), request.query.failFast === 'true')
      return reply.code(201).send(await viewOf(row))
    },
  })

  api.get('/api/v1/sessions', {
    schema: {
      summary: 'List sessions, newest first; a page may be short and still go on',
      tags,
      querystring: ListQuery,
      response: { 200: SessionPage, ...errors },
    },
    onRequest: see,
    handler: async request => {
      const { state, preset = null, owner, limit, cursor } = request.query
      const filter = {
        owner: ownerScope(callerOf(request), owner),
        preset,
        ended: state === undefined ? null : state === 'ended',
      }
      const page = await queries.sessions(filter, cursor ?? null, limit)
      const rows = await queries.jobsBySeq(page.rows.map(({ job }) => job))
      const sessions = await viewSessions(context, rows)
      return {
        sessions: sessions.filter(session => state === undefined || session.state === state),
        next: page.next === null ? null : cursorAfter(page.next),
      }
    },
  })

  api.get('/api/v1/sessions/:id', {
    schema: { summary: 'Show a session', tags, params: SessionRef, response: { 200: SessionView, ...errors } },
    onRequest: see,
    handler: async request => viewOf(await findSession(queries, callerOf(request), request.params.id)),
  })

  api.delete('/api/v1/sessions/:id', {
    schema: {
      summary: 'End a session: its program is asked to leave, tasks that wait for it fail',
      tags,
      params: SessionRef,
      response: { 202: SessionEnded, ...errors },
    },
    onRequest: act,
    handler: async (request, reply) => {
      const row = await findSession(queries, callerOf(request), request.params.id)
      refuseEnded(row)
      const { effect } = await engine.execute({ kind: 'endSession', job: row.seq, reason: 'manual' })
      return reply.code(202).send({ effect, session: await viewOf(row) })
    },
  })

  api.post('/api/v1/sessions/:id/keepalive', {
    schema: {
      summary: 'Let the idle time of a session begin anew',
      tags,
      params: SessionRef,
      response: { 200: SessionView, ...errors },
    },
    onRequest: act,
    handler: async request => {
      const row = await findSession(queries, callerOf(request), request.params.id)
      refuseEnded(row)
      await engine.execute({ kind: 'keepSession', job: row.seq })
      return viewOf(row)
    },
  })

  api.post('/api/v1/sessions/:id/tasks', {
    schema: {
      summary: 'Give a session a task: a job that takes one of its places, or waits for one',
      tags,
      params: SessionRef,
      body: NewTask,
      response: { 201: Job, ...errors },
    },
    bodyLimit: MAX_BODY_BYTES,
    validatorCompiler: checkAndKeepBody,
    onRequest: act,
    handler: async (request, reply) => {
      const caller = callerOf(request)
      const isLive = await engine.read(state => liveSession(state, caller, request.params.id) !== null)
      const session = isLive ? request.params : await findSession(queries, caller, request.params.id)
      const spec = { ...request.body, type: 'task', task: { session: session.id } }
      const row = await accept(request, spec, false).catch(async (error: unknown) => {
        if (error instanceof Refused && error.code === 'session.not_found')
          refuseEnded(await findSession(queries, caller, session.id))
        throw error
      })
      return reply.code(201).send(await viewJob(context, row))
    },
  })
}

/** Whatever it says, it is to be a session. */
function sessionSpec(body: unknown): unknown {
  return typeof body === 'object' && body !== null ? { session: {}, ...body } : body
}

function refuseEnded({ id, state, reason }: JobRow): void {
  if (state === 'waiting' || state === 'queued' || state === 'active') return
  throw new Refused('session.not_found', `session ${id} has ended: ${reason ?? state}`)
}
