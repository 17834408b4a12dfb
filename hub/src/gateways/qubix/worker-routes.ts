import type { JobRow } from '@stoker/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type DialectCaller, dialectCaller } from '../../serving/dialect-caller.ts'
import { RateLimit, RateLimited } from '../../serving/rate-limit.ts'
import { QubixError } from './answers.ts'
import { CompleteBody, HeartbeatBody, ProgressBody, RegisterBody, readBody, readPathId, workerIdIn } from './bodies.ts'
import type { QubixContext } from './context.ts'
import type { JobDesk, Settled } from './job-desk.ts'
import { jobStatus } from './job-status.ts'
import type { ProviderDesk } from './provider-desk.ts'

/** Requests a second of one worker: the busiest old one sends less than two. */
const PER_SECOND = 20
const BURST = 400

interface Desks {
  readonly providers: ProviderDesk
  readonly jobs: JobDesk
}

/** The five routes that workers call; each answers exactly 200 where all is well. */
export function addWorkerRoutes(service: FastifyInstance, context: QubixContext, { providers, jobs }: Desks): void {
  const limit = new RateLimit(PER_SECOND, BURST, context.now)
  const pass = async (request: FastifyRequest, workerId: string): Promise<DialectCaller> => {
    const caller = await workerCaller(context, request)
    const waitMs = limit.take(`${caller.token} ${workerId}`)
    if (waitMs === 0) return caller
    throw new RateLimited(`worker ${workerId} sends more than ${PER_SECOND} requests a second`, waitMs)
  }

  service.post('/api/providers/register', async request => {
    const body = readBody(RegisterBody, request.body)
    const workerId = registeredId(body)
    const caller = await pass(request, workerId)
    const id = await providers.register(caller, workerId, body)
    return { success: true, provider: { id, ...(isOfClient(body) ? clientView(body, context.now()) : {}) } }
  })

  service.post<{ Params: { id: string } }>('/api/providers/:id/heartbeat', async request => {
    const id = readPathId(request.params.id)
    const caller = await pass(request, id)
    const job = await providers.heartbeat(caller, id, readBody(HeartbeatBody, request.body ?? {}))
    return { success: true, pendingJobs: job === null ? [] : [job] }
  })

  service.get<{ Params: { id: string } }>('/api/jobs/pending/:id', async request => {
    const caller = await pass(request, request.params.id)
    const job = await providers.poll(caller, request.params.id)
    return job === null ? [] : [job]
  })

  service.post<{ Params: { id: string } }>('/api/jobs/:id/progress', async request => {
    const body = readBody(ProgressBody, request.body)
    const caller = await pass(request, workerIdIn(body))
    const { mustStop, secondsLeft } = await jobs.progress(caller, request.params.id, body)
    return {
      success: true,
      ...(secondsLeft === null ? {} : { timeRemaining: secondsLeft }),
      ...(mustStop ? { cancel: true } : {}),
    }
  })

  service.post<{ Params: { id: string } }>('/api/jobs/:id/complete', async request => {
    const body = readBody(CompleteBody, request.body)
    const caller = await pass(request, workerIdIn(body))
    return settledView(request.params.id, await jobs.complete(caller, request.params.id, body))
  })
}

/** Who may speak for workers; guesses are slowed by address. */
async function workerCaller(context: QubixContext, request: FastifyRequest): Promise<DialectCaller> {
  const { engine, door, now, isOpen } = context
  const caller = await dialectCaller(engine, request.raw, { now: now(), isOpen })
  if (caller === null) {
    door.passStranger(request.ip)
    throw new QubixError(401, 'a token is needed: --backend http://worker:TOKEN@HOST:PORT or http://HOST:PORT/t/TOKEN')
  }
  if (caller.role === 'worker' || caller.role === 'admin') return caller
  throw new QubixError(403, `the token has the role ${caller.role}; workers need one with the role worker`)
}

function registeredId(body: RegisterBody): string {
  if (isOfClient(body)) return body.address ?? ''
  return body.worker_id === undefined && body.workerId === undefined && body.specs?.worker_id !== undefined
    ? body.specs.worker_id
    : workerIdIn(body)
}

/** The client library registers providers by their address, without a worker. */
function isOfClient({ worker_id, workerId, specs, address }: RegisterBody): boolean {
  return worker_id === undefined && workerId === undefined && specs?.worker_id === undefined && !!address
}

/** The client library takes exactly these keys beside the id. */
function clientView({ address, computePower, pricePerHour }: RegisterBody, now: number) {
  const at = new Date(now).toISOString()
  const figures = { computePower: computePower ?? 0, pricePerHour: pricePerHour ?? 0, reputation: 0, totalJobs: 0 }
  return { address, ...figures, isActive: true, createdAt: at, updatedAt: at }
}

function settledView(id: string, { isDuplicate, row }: Settled) {
  if (isDuplicate || row === null) return { success: true, duplicate: true }
  const job = { id, status: jobStatus(row), ...timesOf(row), actualCost: 0 }
  return { success: true, job, payment: { amount: 0, status: 'none' } }
}

function timesOf({ endedAt, startedAt, runningAt, placedAt }: JobRow) {
  if (endedAt === null) return {}
  const from = startedAt ?? runningAt ?? placedAt ?? endedAt
  return { completedAt: new Date(endedAt).toISOString(), actualDuration: Math.max(0, endedAt - from) / 1000 }
}
