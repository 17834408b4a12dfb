import type { IncomingMessage, RequestListener } from 'node:http'
import type { Duplex } from 'node:stream'
import Fastify, { type FastifyInstance } from 'fastify'
import { withPastedPaths } from '../../serving/dialect-caller.ts'
import { parseJson } from '../../serving/parse-json.ts'
import { WITHOUT_COMPILERS } from '../../serving/without-compilers.ts'
import { errorOf, QubixError, sendError } from './answers.ts'
import { addConsumerRoutes } from './api/consumer-routes.ts'
import type { ConsumerContext } from './api/context.ts'
import type { QubixContext } from './context.ts'
import { HandOut } from './hand-out.ts'
import { JobDesk } from './job-desk.ts'
import { LeaseWatch } from './lease-watch.ts'
import { ProviderDesk } from './provider-desk.ts'
import { Turns } from './turns.ts'
import { addWorkerRoutes } from './worker-routes.ts'

/** What a program wrote to stderr appears up to three times in a report, escaped. */
const MAX_BODY_BYTES = 8 * 1024 * 1024
const MAX_PARAM_LENGTH = 2400

export interface Qubix {
  /** Takes requests whose paths begin at the dialect's own root. */
  readonly request: RequestListener
  /** Customers who want to be told. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
  /** Every second: leases and liveness. */
  tick(): Promise<void>
  close(): Promise<void>
}

/** The QUBIX dialect: its workers and customers find their routes, answers and patience as they know them. */
export async function createQubix(context: QubixContext, customers: ConsumerContext): Promise<Qubix> {
  // A worker that is told 503 loses its result; one whose connection ends says it again.
  const service = Fastify({
    ...WITHOUT_COMPILERS,
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    frameworkErrors: (error, _request, reply) => void sendError(reply, errorOf(error)),
  })
  answerAsKnown(service, context)
  readJsonOfAnyType(service)
  const turns = new Turns()
  const handOut = new HandOut(context)
  const watch = new LeaseWatch(context, turns, handOut)
  const providers = new ProviderDesk(context, turns, handOut)
  addWorkerRoutes(service, context, { providers, jobs: new JobDesk(context, turns, handOut) })
  const viewers = addConsumerRoutes(service, customers)
  await service.ready()
  return {
    request: withPastedPaths(service.routing as RequestListener),
    upgrade: viewers.upgrade,
    tick: () => watch.look(),
    close: async () => {
      watch.close()
      await service.close()
    },
  }
}

function answerAsKnown(service: FastifyInstance, { log }: QubixContext): void {
  service.setErrorHandler((error, _request, reply) => {
    const answer = errorOf(error)
    if (answer.status === 500) log('error', `qubix: ${error instanceof Error ? error.stack : String(error)}`)
    return sendError(reply, answer)
  })
  service.setNotFoundHandler((request, reply) =>
    sendError(reply, new QubixError(404, `no such route: ${request.method} ${request.url.slice(0, 200)}`)),
  )
}

/** Whatever a body calls itself, it is read as JSON; none at all is none. */
function readJsonOfAnyType(service: FastifyInstance): void {
  service.removeAllContentTypeParsers()
  service.addContentTypeParser('*', { parseAs: 'string' }, (_request, body: string, done) => {
    try {
      done(null, body.trim() === '' ? null : parseJson(body))
    } catch (error) {
      done(error as Error)
    }
  })
}
