import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { State, WorkerState } from '../../../engine/state.ts'
import type { DialectCaller } from '../../../serving/dialect-caller.ts'
import { ADMINS, ANYONE, admit, maySee } from './admit.ts'
import { badRequest, ConsumerError } from './consumer-error.ts'
import type { ConsumerContext } from './context.ts'
import { capabilitiesOf, wireId, workerRecord, workerState } from './worker-record.ts'
import type { WorkerTally } from './worker-tally.ts'

type WorkerRequest = FastifyRequest<{ Params: { id: string } }>
/** Words for a worker that is to take no more jobs, and for one that is to take some again. */
const RESTING: readonly string[] = ['draining', 'drain', 'maintenance', 'paused', 'offline', 'inactive', 'disabled']
const WORKING: readonly string[] = ['idle', 'online', 'active', 'available', 'enabled']
const StatusBody = z.looseObject({ status: z.string() })

/** The fleet as this dialect shows it, workers of every protocol included. */
export function addWorkerRoutes(service: FastifyInstance, context: ConsumerContext, tally: WorkerTally): void {
  const { engine, queries } = context

  async function recordsOf(workers: readonly WorkerState[], caller: DialectCaller) {
    const seqs = workers.flatMap(({ active }) => [...active.keys()])
    const rows = seqs.length === 0 ? [] : await queries.jobsBySeq(seqs)
    const ids = new Map(rows.flatMap(({ seq, id, owner }) => (maySee(caller, owner) ? [[seq, id] as const] : [])))
    return Promise.all(
      workers.map(async worker => ({
        ...workerRecord(
          worker,
          await tally.of(worker.id),
          [...worker.active.keys()].flatMap(seq => ids.get(seq) ?? []),
        ),
        ...context.workers?.about(worker),
      })),
    )
  }

  service.get('/api/workers', async request => {
    const caller = await admit(context, request, ANYONE)
    return recordsOf(await engine.read(({ workers }) => [...workers.values()]), caller)
  })

  service.get('/api/workers/:id', async (request: WorkerRequest) => {
    const caller = await admit(context, request, ANYONE)
    const worker = await engine.read(state => knownWorker(state, request.params.id))
    return (await recordsOf([worker], caller))[0]
  })

  service.get('/api/workers/:id/stats', async (request: WorkerRequest) => {
    await admit(context, request, ANYONE)
    const worker = await engine.read(state => knownWorker(state, request.params.id))
    const { completed, failed } = await tally.of(worker.id)
    const ended = completed + failed
    return {
      worker_id: wireId(worker),
      status: workerState(worker),
      uptime: worker.connected ? Math.max(0, context.now() - worker.registeredAt) : 0,
      jobs_completed: completed,
      jobs_failed: failed,
      success_rate: ended === 0 ? 'N/A' : `${((100 * completed) / ended).toFixed(2)}%`,
      capabilities: capabilitiesOf(worker),
      location: context.workers?.about(worker).location ?? null,
    }
  })

  service.put('/api/workers/:id/status', async (request: WorkerRequest) => {
    const caller = await admit(context, request, [...ADMINS, 'worker'])
    const { id } = await engine.read(state => knownWorker(state, request.params.id))
    const on = restsBy(request.body)
    if (caller.role === 'admin' && on !== null) await engine.execute({ kind: 'drain', worker: id, on })
    const status = await engine.read(state => workerState(knownWorker(state, id)))
    return { success: true, worker_id: request.params.id, status, message: `Worker is ${status}` }
  })

  service.delete('/api/workers/:id', async (request: WorkerRequest) => {
    await admit(context, request, ADMINS)
    const { id, busy } = await engine.read(state => {
      const worker = knownWorker(state, request.params.id)
      return { id: worker.id, busy: worker.connected ? worker.active.size : 0 }
    })
    if (busy > 0) {
      await engine.execute({ kind: 'drain', worker: id, on: true })
      const message = `Worker runs ${busy} jobs and takes no more; delete it again when they have ended`
      return { success: true, status: 'draining', message }
    }
    await engine.execute({ kind: 'removeWorker', worker: id })
    return { success: true, status: 'removed', message: 'Worker removed' }
  })
}

/** By the id the caller would use: of this dialect first, so that a name of another worker cannot hide it. */
function knownWorker({ workers }: Pick<State, 'workers'>, ref: string): WorkerState {
  const all = [...workers.values()]
  const found =
    all.find(worker => wireId(worker) === ref) ?? workers.get(ref) ?? all.find(({ facts }) => facts.name === ref)
  if (found !== undefined) return found
  throw new ConsumerError(404, 'Worker not found', `no worker has the id ${JSON.stringify(ref.slice(0, 200))}`)
}

/** Null: the word is known, and asks for no change. */
function restsBy(body: unknown): boolean | null {
  const parsed = StatusBody.safeParse(body)
  const status = parsed.success ? parsed.data.status.toLowerCase() : ''
  if (RESTING.includes(status)) return true
  if (WORKING.includes(status)) return false
  if (status === 'busy') return null
  throw badRequest(`status: allowed: ${[...WORKING, 'busy', ...RESTING].join(', ')}`)
}
