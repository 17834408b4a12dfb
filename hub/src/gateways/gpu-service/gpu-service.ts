import type { RequestListener } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { WITHOUT_COMPILERS } from '../../serving/without-compilers.ts'
import { AnswerError as Answer, type AnswerError, answerOf } from './answer-error.ts'
import type { GpuServiceContext } from './context.ts'
import { allowOrigins } from './cors.ts'
import { health, resources } from './health.ts'
import { readJsonAnyway } from './json-body.ts'
import { addSessionRoutes, liveSessions } from './sessions.ts'
import { addSubmitRoutes } from './submit.ts'
import { TaskDesk } from './task-desk.ts'
import { addTaskRoutes } from './tasks.ts'

const MAX_BODY_BYTES = 1024 * 1024

export interface GpuService {
  /** Takes requests whose paths begin at the service's own root. */
  readonly request: RequestListener
  close(): Promise<void>
}

/** The GPU-service dialect: its clients find its paths, bodies, streams and errors as they know them. */
export async function createGpuService(context: GpuServiceContext): Promise<GpuService> {
  const service = Fastify({
    ...WITHOUT_COMPILERS,
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: 2400 },
  })
  const desk = new TaskDesk(context)
  answerInDetail(service, context)
  readJsonAnyway(service)
  allowOrigins(service, context.presets.settings.corsOrigins)
  service.get('/', () => ({ service: 'gpu-service', version: context.version, status: 'running' }))
  service.get('/health', () => health(context))
  service.get('/health/resources', async () => resources(context, await liveSessions(context, () => true)))
  addSubmitRoutes(service, desk)
  addTaskRoutes(service, desk)
  addSessionRoutes(service, desk)
  await service.ready()
  return {
    request: service.routing as RequestListener,
    close: async () => {
      await desk.close()
      await service.close()
    },
  }
}

function answerInDetail(service: FastifyInstance, { failed, isStopping }: GpuServiceContext): void {
  service.addHook('onRequest', (_request, _reply, done) => {
    if (isStopping()) done(new Answer(503, 'the hub is stopping', { retryAfterSeconds: 5 }))
    else done()
  })
  service.setErrorHandler((error, _request, reply) => {
    const answer = answerOf(error)
    if (answer.status >= 500 && !(error instanceof Answer) && answer.status !== 503) failed(error)
    return send(reply, answer)
  })
  service.setNotFoundHandler((_request, reply) => send(reply, new Answer(404, 'Not Found')))
}

function send(reply: FastifyReply, { status, detail, retryAfterSeconds }: AnswerError): FastifyReply {
  if (retryAfterSeconds !== null) reply.header('retry-after', String(retryAfterSeconds))
  return reply.code(status).header('content-type', 'application/json; charset=utf-8').send({ detail })
}
