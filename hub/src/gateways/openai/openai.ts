import type { RequestListener } from 'node:http'
import { Refused } from '@stoker/protocol'
import Fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { parseJson } from '../../serving/parse-json.ts'
import { WITHOUT_COMPILERS } from '../../serving/without-compilers.ts'
import { type ApiError, errorOf, invalidRequest, unavailable } from './api-error.ts'
import { bearerOf } from './bearer.ts'
import type { OpenAiContext } from './context.ts'
import { Desk } from './desk.ts'
import { addEmbeddingRoute } from './embeddings.ts'
import { modelsOf, unknownModel } from './models.ts'
import { addTextRoutes } from './text-routes.ts'

/** Many texts to embed come in one body; each task out of it must be much smaller. */
const MAX_BODY_BYTES = 8 * 1024 * 1024

export interface OpenAi {
  /** Takes requests whose paths begin behind the prefix. */
  readonly request: RequestListener
  close(): Promise<void>
}

/** The endpoint that clients of OpenAI speak to, over the session presets that say what they serve. */
export async function createOpenAi(context: OpenAiContext): Promise<OpenAi> {
  const service = Fastify({
    ...WITHOUT_COMPILERS,
    logger: false,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: 2400 },
  })
  const desk = new Desk(context)
  answerAsOpenAi(service, context)
  readJson(service)
  addModelRoutes(service, context)
  addTextRoutes(service, desk)
  addEmbeddingRoute(service, desk)
  await service.ready()
  return {
    request: service.routing as RequestListener,
    close: async () => {
      await desk.close()
      await service.close()
    },
  }
}

function addModelRoutes(service: FastifyInstance, context: OpenAiContext): void {
  const view = (id: string) => ({
    id,
    object: 'model',
    created: Math.floor(context.startedAt / 1000),
    owned_by: 'stoker',
  })

  service.get('/models', async request => {
    await bearerOf(context, request)
    const ids = new Set(modelsOf(await context.presets.current()).map(({ id }) => id))
    return { object: 'list', data: [...ids].map(view) }
  })

  service.get('/models/*', async request => {
    await bearerOf(context, request)
    const { '*': id } = request.params as { readonly '*': string }
    const models = modelsOf(await context.presets.current())
    if (models.some(model => model.id === id)) return view(id)
    throw unknownModel(models, id)
  })
}

/** Bodies are JSON whatever their content type says. */
function readJson(service: FastifyInstance): void {
  service.removeAllContentTypeParsers()
  service.addContentTypeParser<string>('*', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, text === '' ? undefined : parseJson(text))
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      done(invalidRequest(error.message, null))
    }
  })
}

function answerAsOpenAi(service: FastifyInstance, { failed, isStopping }: OpenAiContext): void {
  service.addHook('onRequest', (_request, _reply, done) => {
    if (isStopping()) done(unavailable('the hub is stopping', 'hub_stopping'))
    else done()
  })
  service.setErrorHandler((error, _request, reply) => {
    const answer = errorOf(error)
    if (answer !== error && answer.status === 500) failed(error)
    return send(reply, answer)
  })
  service.setNotFoundHandler((request, reply) =>
    send(reply, invalidRequest(`no such route: ${request.method} /v1${request.url.split('?')[0]}`, null, 404)),
  )
}

/** A program that says itself that it failed would say so again: clients need not repeat that. */
function send(reply: FastifyReply, error: ApiError): FastifyReply {
  const { status, code, retryAfterSeconds } = error
  if (retryAfterSeconds !== null) reply.header('retry-after', String(retryAfterSeconds))
  if (code === 'program_failed' || code === 'timeout') reply.header('x-should-retry', 'false')
  return reply.code(status).header('content-type', 'application/json; charset=utf-8').send(error.body)
}
