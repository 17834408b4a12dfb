import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http'
import { Refused } from '@stoker/protocol'
import Fastify, { type FastifyInstance, LogController } from 'fastify'
import { JobWatch } from '../serving/job-watch.ts'
import { OpenStreams } from '../serving/open-streams.ts'
import { QuickLane } from '../serving/quick-lane.ts'
import { WITHOUT_COMPILERS } from '../serving/without-compilers.ts'
import { addArtifactRoutes } from './artifacts.ts'
import { addAuditRoute } from './audit.ts'
import { keepAuditTrail } from './audit-trail.ts'
import { TokenBook } from './auth.ts'
import { addBlobRoutes } from './blobs.ts'
import type { Api, ApiContext, RouteContext } from './context.ts'
import { addDeviceRoutes } from './devices.ts'
import { addDocsRoutes } from './docs.ts'
import { addExplainRoute } from './explain.ts'
import { addFeedRoute } from './feed.ts'
import { addGcRoutes } from './gc.ts'
import { addGroupRoutes } from './groups.ts'
import { addJobEventsRoute } from './job-events.ts'
import { JobNames } from './job-names.ts'
import { addJobWishRoutes } from './job-wishes.ts'
import { addJobRoutes } from './jobs.ts'
import { addJoinRoutes } from './join.ts'
import { addListenerRoutes } from './listeners.ts'
import { addLogsRoute } from './logs.ts'
import type { HttpFigures } from './metrics/http-figures.ts'
import { addMetricsRoute } from './metrics/route.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { addOpenApiRoute, describeRoutes } from './openapi.ts'
import { refuseOtherMethods } from './other-methods.ts'
import { addOwnerRoutes } from './owners.ts'
import { addPresetRoutes } from './presets.ts'
import { answerBrokenRequest, answerWithProblems, sendProblem } from './problems.ts'
import { readJsonBodies } from './read-json.ts'
import { addScheduleRoutes } from './schedules.ts'
import { addSecretRoutes } from './secrets.ts'
import { addServiceRoutes } from './service.ts'
import { addSessionRoutes } from './sessions.ts'
import { addSubmitRoute, submitQuickly } from './submit.ts'
import { addTokenRoutes } from './tokens.ts'
import { checkBySchema } from './validation.ts'
import { addWebhookRoutes } from './webhooks.ts'
import { addWorkerRoutes } from './workers.ts'

/**
 * What every server of the API keeps to: a large upload on a slow line takes long, so its body may take an hour, and
 * goes on in a later request; headers fit one packet, so who still sends them after 15 s is not a caller.
 */
export const SERVER_OPTIONS = {
  requestTimeout: 3600_000,
  headersTimeout: 15_000,
  connectionsCheckingInterval: 5_000,
  requireHostHeader: false,
  keepAliveTimeout: 72_000,
}
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
  slowStrangers(api, book)
  keepAuditTrail(api, context)
  refuseOtherMethods(api)
  await describeRoutes(api, context)
  const routes: RouteContext = {
    ...context,
    tokens: book,
    watch: new JobWatch(context),
    names: new JobNames(context.queries),
    open,
    alone: oneAtATime(),
    reading: oneAtATime(),
  }
  const figures = await addRoutes(api, routes)
  const answer = submitQuickly(routes, (key, ms) => figures.answered(key, ms))
  const lane = new QuickLane(api.server as Server, { line: 'POST /api/v1/jobs HTTP/1.1', answer, now: context.now })
  api.addHook('preClose', async () => lane.close())
  await api.ready()
  return api as unknown as FastifyInstance
}

function createServer({ logger, front = api => api }: ApiContext): Api {
  const api: Api = Fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    // Requests are not logged one by one, so they need no logger each.
    childLoggerFactory: parent => parent,
    serverFactory: api => createHttpServer(SERVER_OPTIONS, front(api as RequestListener)),
    bodyLimit: MAX_SMALL_BODY_BYTES,
    requestTimeout: SERVER_OPTIONS.requestTimeout,
    forceCloseConnections: true,
    return503OnClosing: false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    ...WITHOUT_COMPILERS,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => sendProblem(error, request, reply),
  })
  api.decorateRequest('caller', null)
  api.decorateRequest('isAudited', false)
  api.setValidatorCompiler(checkBySchema)
  api.setSerializerCompiler(() => data => JSON.stringify(data))
  return api
}

async function addRoutes(api: Api, context: RouteContext): Promise<HttpFigures> {
  addSubmitRoute(api, context)
  addJobRoutes(api, context)
  addJobWishRoutes(api, context)
  addExplainRoute(api, context)
  addGroupRoutes(api, context)
  addSessionRoutes(api, context)
  addJobEventsRoute(api, context)
  addLogsRoute(api, context)
  addArtifactRoutes(api, context)
  await addBlobRoutes(api, context)
  addFeedRoute(api, context)
  addWorkerRoutes(api, context)
  addDeviceRoutes(api, context)
  addTokenRoutes(api, context)
  addWebhookRoutes(api, context)
  addOwnerRoutes(api, context)
  addScheduleRoutes(api, context)
  addPresetRoutes(api, context)
  addSecretRoutes(api, context)
  addAuditRoute(api, context)
  addListenerRoutes(api, context)
  addJoinRoutes(api, context)
  addServiceRoutes(api, context)
  addGcRoutes(api, context)
  addOpenApiRoute(api, context)
  addDocsRoutes(api)
  return addMetricsRoute(api, context)
}

function refuseWhenStopping(api: Api, { isStopping }: ApiContext): void {
  api.addHook('onRequest', (_request, _reply, done) => {
    if (isStopping()) done(new Refused('hub.stopping', 'the hub is stopping; try again when it is back'))
    else done()
  })
}

/** Requests that do not even try to say who they are; those that do are counted by their guards. */
function slowStrangers(api: Api, { door }: TokenBook): void {
  api.addHook('onRequest', (request, _reply, done) => {
    try {
      if (request.headers.authorization === undefined) door.passStranger(request.ip)
      done()
    } catch (error) {
      done(error instanceof Error ? error : new Error(String(error)))
    }
  })
}
