import { Refused } from '@stoker/protocol'
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { addArtifactRoutes } from './artifacts.ts'
import { TokenBook } from './auth.ts'
import { addBlobRoutes } from './blobs.ts'
import type { Api, ApiContext, RouteContext } from './context.ts'
import { addDocsRoutes } from './docs.ts'
import { addFeedRoute } from './feed.ts'
import { addGcRoutes } from './gc.ts'
import { addJobEventsRoute } from './job-events.ts'
import { JobNames } from './job-names.ts'
import { JobWatch } from './job-watch.ts'
import { addJobRoutes } from './jobs.ts'
import { addLogsRoute } from './logs.ts'
import { addMetricsRoute } from './metrics.ts'
import { OpenStreams } from './open-streams.ts'
import { addOpenApiRoute, describeRoutes } from './openapi.ts'
import { answerBrokenRequest, answerWithProblems, refuseOtherMethods, sendProblem } from './problems.ts'
import { readJsonBodies } from './read-json.ts'
import { addServiceRoutes } from './service.ts'
import { addSubmitRoute } from './submit.ts'
import { addTokenRoutes } from './tokens.ts'
import { checkBySchema } from './validation.ts'
import { addWorkerRoutes } from './workers.ts'

/** A request whose body is still not there after this is given up; a large upload on a slow line takes long, and goes on in a later one. */
const REQUEST_TIMEOUT_MS = 3600_000
const MAX_SMALL_BODY_BYTES = 64 * 1024
/** Worker names have up to 200 characters, each of which may be encoded in twelve. */
const MAX_PARAM_LENGTH = 2400

/** The HTTP API, not yet listening. Closing it ends all streams and lets go of the engine. */
export async function createApi(context: ApiContext): Promise<FastifyInstance> {
  const api = createServer(context)
  const { book, close } = await TokenBook.open(context)
  const open = new OpenStreams()
  api.addHook('preClose', () => open.closeAll())
  api.addHook('onClose', async () => close())
  answerWithProblems(api)
  readJsonBodies(api)
  refuseWhenStopping(api, context)
  const methodsByUrl = collectMethods(api)
  await describeRoutes(api, context)
  await addRoutes(api, {
    ...context,
    tokens: book,
    watch: new JobWatch(context),
    names: new JobNames(context.queries),
    open,
  })
  refuseOtherMethods(api, new Map([...methodsByUrl].map(([url, methods]) => [url, new Set(methods)])))
  await api.ready()
  return api as unknown as FastifyInstance
}

function createServer({ logger }: ApiContext): Api {
  const api: Api = Fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    http: { requireHostHeader: false },
    bodyLimit: MAX_SMALL_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply),
  })
  api.decorateRequest('caller', null)
  api.setValidatorCompiler(checkBySchema)
  api.setSerializerCompiler(() => data => JSON.stringify(data))
  return api
}

async function addRoutes(api: Api, context: RouteContext): Promise<void> {
  addSubmitRoute(api, context)
  addJobRoutes(api, context)
  addJobEventsRoute(api, context)
  addLogsRoute(api, context)
  addArtifactRoutes(api, context)
  await addBlobRoutes(api, context)
  addFeedRoute(api, context)
  addWorkerRoutes(api, context)
  addTokenRoutes(api, context)
  addServiceRoutes(api, context)
  addGcRoutes(api, context)
  addMetricsRoute(api, context)
  addOpenApiRoute(api)
  addDocsRoutes(api)
}

function refuseWhenStopping(api: Api, { isStopping }: ApiContext): void {
  api.addHook('onRequest', (_request, _reply, done) => {
    if (isStopping()) done(new Refused('hub.stopping', 'the hub is stopping; try again when it is back'))
    else done()
  })
}

function collectMethods(api: Api): ReadonlyMap<string, ReadonlySet<string>> {
  const methodsByUrl = new Map<string, Set<string>>()
  api.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByUrl.get(url) ?? new Set()
    for (const each of [method].flat()) methods.add(each)
    methodsByUrl.set(url, methods)
  })
  return methodsByUrl
}
