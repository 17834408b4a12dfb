import type { FastifyInstance } from 'fastify'
import { AnswerError } from './answer-error.ts'
import { HeartbeatBody, IdBody, read, SettingsBody, StatusBody } from './bodies.ts'
import { reachedAt, workerCall } from './caller.ts'
import type { TrainForgeContext } from './context.ts'
import type { Desk } from './desk.ts'
import { hearFigures } from './figures.ts'
import { readRegistration } from './registration.ts'
import type { Said } from './reports.ts'

/** The five calls of a node, and those of its siblings that name a worker. Only the poll's answer is ever read by a node. */
export function addWorkerRoutes(service: FastifyInstance, context: TrainForgeContext, desk: Desk): void {
  const { registrar, handOut, reports } = desk

  service.post('/api/workers/register', async request => {
    const found = readRegistration(request.body)
    if (found === null)
      throw new AnswerError(400, 'a registration has worker_info, or worker_id at its top; found neither')
    const { id } = await registrar.register(found.id, found.told, workerCall(request))
    const message = 'Worker registered successfully'
    return { success: true, message, worker_id: id, status: 'registered', server: 'stoker' }
  })

  service.post('/api/workers/heartbeat', async request => {
    const { worker_id, active_jobs } = read(HeartbeatBody, request.body)
    const worker = await registrar.known(worker_id, workerCall(request))
    hearFigures(context.board, worker, context.clock().wall, request.body)
    if (active_jobs !== null) await handOut.count(worker, active_jobs)
    return { success: true }
  })

  service.get('/api/workers/jobs', async request => {
    const { worker_id } = request.query as { readonly worker_id?: unknown }
    const worker = await registrar.known(worker_id, workerCall(request))
    return { jobs: await handOut.poll(worker, reachedAt(request)) }
  })

  service.post('/api/workers/job-status', async request => {
    const body = read(StatusBody, request.body)
    const worker = await registrar.known(body.worker_id, workerCall(request))
    await reports.take(worker, body.job_id, saidOf(body))
    return { success: true }
  })

  service.post('/api/workers/unregister', async request => {
    const { worker_id } = read(IdBody, request.body)
    await registrar.unregister(worker_id, workerCall(request))
    return { success: true }
  })

  service.post('/api/workers/:id/heartbeat', async request => {
    const { id } = request.params as { readonly id: string }
    if (registrar.find(id, workerCall(request)) === undefined) throw new AnswerError(404, 'Worker not found')
    const worker = await registrar.known(id, workerCall(request))
    return { success: true, worker_id: worker.id }
  })

  service.put('/api/workers/:id/settings', async request => {
    const { id } = request.params as { readonly id: string }
    const call = workerCall(request)
    if (call.caller.role !== 'admin') throw new AnswerError(403, 'only an admin decides whom to trust')
    const worker = registrar.find(id, call)
    if (worker === undefined) throw new AnswerError(404, 'Worker not found')
    const { trust_gpus, allow_docker } = read(SettingsBody, request.body)
    await registrar.set(worker, {
      ...(trust_gpus === undefined ? {} : { trustGpus: trust_gpus }),
      ...(allow_docker === undefined ? {} : { allowDocker: allow_docker }),
    })
    const { trustGpus, allowDocker } = worker.settings
    return { worker_id: id, trust_gpus: trustGpus, allow_docker: allowDocker }
  })
}

function saidOf({ status, reason, error_message, exit_codes, duration }: StatusBody): Said {
  if (status === 'running' || status === 'cancelled') return { status }
  if (status === 'declined') return { status, reason: reason ?? error_message ?? 'it gave no reason' }
  return { status, exitCodes: exit_codes, error: error_message ?? null, durationSeconds: duration }
}
