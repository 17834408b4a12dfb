import { Job, JobPatch, type JobRow, Problem, Refused } from '@stoker/protocol'
import type { FastifyRequest } from 'fastify'
import type { Command, Replies } from '../engine/commands.ts'
import { callerOf, guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { findJob } from './job-ref.ts'
import { JobRef } from './jobs.ts'
import { viewJob } from './views.ts'

type Wish = Extract<Command, { kind: 'hold' | 'release' | 'setPriority' }>
const answers = { 200: Job, '4xx': Problem, '5xx': Problem }

/** What can be asked of a job that has not started; of one that has, it is refused with its state. */
export function addJobWishRoutes(api: Api, context: RouteContext): void {
  const { queries, engine, tokens } = context
  const onRequest = guard(tokens, ['admin', 'submit'])

  async function carryOut(request: FastifyRequest, ref: string, wishOf: (row: JobRow, by: string) => Wish) {
    const caller = callerOf(request)
    const row = await findJob(queries, caller, ref)
    const wish = wishOf(row, caller.owner)
    const { effect } = await engine.execute(wish)
    const now = (await queries.jobById(row.id)) ?? row
    refuse(effect, wish.kind, now)
    return viewJob(context, now)
  }

  api.post('/api/v1/jobs/:id/hold', {
    schema: {
      summary: 'Hold a job that has not started: it waits until it is released',
      tags: ['jobs'],
      params: JobRef,
      response: answers,
    },
    onRequest,
    handler: request => carryOut(request, request.params.id, ({ seq: job }, by) => ({ kind: 'hold', job, by })),
  })

  api.post('/api/v1/jobs/:id/release', {
    schema: { summary: 'Release a held job', tags: ['jobs'], params: JobRef, response: answers },
    onRequest,
    handler: request => carryOut(request, request.params.id, ({ seq: job }, by) => ({ kind: 'release', job, by })),
  })

  api.patch('/api/v1/jobs/:id', {
    schema: {
      summary: 'Change the priority of a job that has not started',
      tags: ['jobs'],
      params: JobRef,
      body: JobPatch,
      response: answers,
    },
    onRequest,
    handler: request => {
      const { priority } = request.body
      return carryOut(request, request.params.id, ({ seq: job }) => ({ kind: 'setPriority', job, priority }))
    },
  })
}

const WORDS: Readonly<Record<Wish['kind'], string>> = {
  hold: 'be held',
  release: 'be released',
  setPriority: 'change its priority',
}

function refuse(effect: Replies[Wish['kind']]['effect'], kind: Wish['kind'], { id, state }: JobRow): void {
  if (effect === 'done') return
  const code = effect === 'active' ? 'job.active' : 'job.ended'
  const found = effect === 'active' ? 'active' : state
  throw new Refused(code, `job ${id} is ${found}; only a job that has not started can ${WORDS[kind]}`)
}
