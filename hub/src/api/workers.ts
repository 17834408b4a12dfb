import { Problem, Refused, Worker, WorkerDetail, WorkerList } from '@stoker/protocol'
import { z } from 'zod'
import type { ActiveJob, State, WorkerState } from '../engine/state.ts'
import { type Caller, callerOf, guard } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { viewWorker, viewWorkerLoad, workerByRef } from './worker-views.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const WorkerRef = z.object({ id: z.string() })
const tags = ['workers']

export function addWorkerRoutes(api: Api, context: RouteContext): void {
  const { engine, board, tokens } = context
  const see = guard(tokens, ['admin', 'submit', 'read'])
  const rule = guard(tokens, ['admin'])

  api.get('/api/v1/workers', {
    schema: { summary: 'List workers', tags, response: { 200: WorkerList, ...errors } },
    onRequest: see,
    handler: () =>
      engine.read(state => ({ workers: [...state.workers.values()].map(worker => viewWorker(worker, state)) })),
  })

  api.get('/api/v1/workers/:id', {
    schema: {
      summary: 'Show a worker by id or name, with its load',
      tags,
      params: WorkerRef,
      response: { 200: WorkerDetail, ...errors },
    },
    onRequest: see,
    handler: async request => {
      const { active, ...view } = await engine.read(state => {
        const worker = knownWorker(state, request.params.id)
        return {
          ...viewWorker(worker, state),
          ...viewWorkerLoad(worker, state, board),
          active: [...worker.active.values()],
        }
      })
      return { ...view, attempts: await viewAttempts(context, callerOf(request), active) }
    },
  })

  for (const [verb, on, summary] of [
    ['drain', true, 'Give a worker no new jobs'],
    ['resume', false, 'Give a drained worker jobs again'],
  ] as const) {
    api.post(`/api/v1/workers/:id/${verb}`, {
      schema: { summary, tags, params: WorkerRef, response: { 200: Worker, ...errors } },
      onRequest: rule,
      handler: async request => {
        const { id } = await engine.read(state => knownWorker(state, request.params.id))
        await engine.execute({ kind: 'drain', worker: id, on })
        return engine.read(state => viewWorker(knownWorker(state, id), state))
      },
    })
  }

  api.delete('/api/v1/workers/:id', {
    schema: {
      summary: 'Forget a worker that is away or idle',
      tags,
      params: WorkerRef,
      response: { 204: z.null(), ...errors },
    },
    onRequest: rule,
    handler: async (request, reply) => {
      const { id } = await engine.read(state => knownWorker(state, request.params.id))
      await engine.execute({ kind: 'removeWorker', worker: id })
      return reply.code(204).send(null)
    },
  })
}

function knownWorker(state: State, ref: string): WorkerState {
  const worker = workerByRef(state, ref)
  if (worker !== undefined) return worker
  throw new Refused('worker.not_found', `no worker has the id or name ${JSON.stringify(ref.slice(0, 200))}`)
}

/** Attempts of other owners' jobs take their share of the worker, but are not shown. */
async function viewAttempts(
  { names }: RouteContext,
  caller: Caller,
  active: readonly ActiveJob[],
): Promise<WorkerDetail['attempts']> {
  const known = await names.resolve(active.map(({ seq }) => seq))
  return active.flatMap(({ seq, claim, state }) => {
    const job = known.get(seq)
    if (job === undefined || (caller.role !== 'admin' && job.owner !== caller.owner)) return []
    return [{ job: job.id, attempt: claim.attempt, state, gpus: [...claim.gpus] }]
  })
}
