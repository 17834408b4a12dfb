import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import multipart from '@fastify/multipart'
import { Refused } from '@stoker/protocol'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { withPastedPaths } from '../../serving/dialect-caller.ts'
import { parseJson } from '../../serving/parse-json.ts'
import { WITHOUT_COMPILERS } from '../../serving/without-compilers.ts'
import { AnswerError, answerOf } from './answer-error.ts'
import { addConsumerRoutes } from './api/consumer-routes.ts'
import type { ConsumerContext } from './api/context.ts'
import { workersOnly } from './caller.ts'
import { addClaimRoutes } from './claim-routes.ts'
import type { TrainForgeContext } from './context.ts'
import { openDesk } from './desk.ts'
import { addRunnerRoutes, passBytes } from './runner-routes.ts'
import { addWorkerRoutes } from './worker-routes.ts'
import { workerSide } from './worker-side.ts'

const TICK_MS = 1000
/** A heartbeat has 3 kB at 16 cores. */
const MAX_BODY_BYTES = 4 * 1024 * 1024

export interface TrainForge {
  /** Takes requests whose paths begin at the dialect's own root. */
  readonly request: RequestListener
  /** Looks at what time has brought; done every second. */
  tick(): Promise<void>
  close(): Promise<void>
}

/** The TrainForge dialect: its nodes, notebooks and clients find the calls, bodies and statuses they know. */
export async function createTrainForge(
  context: TrainForgeContext,
  clients: Omit<ConsumerContext, 'workers'>,
): Promise<TrainForge> {
  const service = Fastify({
    ...WITHOUT_COMPILERS,
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: 2400, ignoreTrailingSlash: true },
    return503OnClosing: false,
  })
  const desk = await openDesk(context)
  const side = workerSide(context, desk)
  answerErrors(service, context)
  readBodies(service)
  await service.register(multipart)
  addRunnerRoutes(service, desk)
  await service.register(async workers => {
    workers.addHook('onRequest', workersOnly(context))
    addWorkerRoutes(workers, context, desk)
    addClaimRoutes(workers, desk, side)
  })
  addConsumerRoutes(service, { ...clients, workers: side })
  await service.ready()
  const tick = () => desk.watchman.tick()
  const ticker = setInterval(() => {
    void tick().catch(error => context.log('warn', `trainforge: ${sentence(error)}`))
  }, TICK_MS)
  return {
    request: withPastedPaths(service.routing as RequestListener),
    tick,
    close: async () => {
      clearInterval(ticker)
      await service.close()
      await desk.handOut.settle()
      await desk.watchman.close()
    },
  }
}

function answerErrors(service: FastifyInstance, { log, isStopping }: TrainForgeContext): void {
  service.addHook('onRequest', (_request, _reply, done) => {
    if (isStopping()) done(new AnswerError(503, 'the hub is stopping'))
    else done()
  })
  service.setErrorHandler((error, request, reply) => {
    const answer = answerOf(error)
    if (answer.status === 500) log('error', `trainforge: ${request.method} ${request.url}: ${sentence(error)}`)
    return send(reply, answer)
  })
  service.setNotFoundHandler((request, reply) =>
    reply
      .code(404)
      .send({ error: 'Endpoint not found', path: request.url, method: request.method, requestId: randomUUID() }),
  )
}

/** Bodies are JSON whatever their content type says, but for bytes and forms. */
function readBodies(service: FastifyInstance): void {
  service.removeAllContentTypeParsers()
  passBytes(service)
  service.addContentTypeParser<string>('*', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? undefined : parseJson(text))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      done(error)
    }
  })
}

function send(reply: FastifyReply, { status, message, more }: AnswerError): FastifyReply {
  if (typeof more.retry_after === 'number') reply.header('retry-after', String(more.retry_after))
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .send({ success: false, error: message, message, ...more })
}

function sentence(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
