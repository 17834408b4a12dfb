import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { invalidRequest } from './api-error.ts'
import { bearerOf } from './bearer.ts'
import { ChatBody, CompletionBody, listOf, readBody } from './bodies.ts'
import { chunks } from './chunks.ts'
import type { Desk } from './desk.ts'
import type { ExchangeNews } from './exchange.ts'
import type { Kind } from './models.ts'
import { CHAT, COMPLETION, type TextShape, wholeAnswer } from './shapes.ts'

type TextBody = z.output<typeof ChatBody> | z.output<typeof CompletionBody>

/** Text for messages or for prompts, whole or piece by piece. */
export function addTextRoutes(service: FastifyInstance, desk: Desk): void {
  service.post('/chat/completions', async (request, reply) => {
    const caller = await bearerOf(desk.context, request)
    const body = readBody(ChatBody, request.body)
    return answer(request, reply, { caller: caller.owner, body, inputs: copies(body, [{}]), kind: 'chat', shape: CHAT })
  })

  service.post('/completions', async (request, reply) => {
    const caller = await bearerOf(desk.context, request)
    const body = readBody(CompletionBody, request.body)
    const prompts = listOf(body.prompt).map(prompt => ({ prompt }))
    const inputs = copies(body, prompts)
    return answer(request, reply, { caller: caller.owner, body, inputs, kind: 'completion', shape: COMPLETION })
  })

  async function answer(
    _request: FastifyRequest,
    reply: FastifyReply,
    { caller, body, inputs, kind, shape }: Asked,
  ): Promise<unknown> {
    const isStream = body.stream === true
    if (!isStream && body.stream_options)
      throw invalidRequest('stream_options: only a stream has them', 'stream_options')
    const { exchange, id } = await desk.open(reply, { owner: caller, model: body.model, kind, inputs })
    const envelope = { id: `${shape.idPrefix}${id}`, created: Math.floor(desk.context.now() / 1000), model: body.model }
    if (!isStream) return wholeAnswer(shape, envelope, await exchange.answers())
    const news = exchange.news()
    const first = await news.next()
    const hasUsage = body.stream_options?.include_usage === true
    const { failed } = desk.context
    return desk.stream(reply, caller, chunks(shape, envelope, resumed(first, news), { hasUsage, failed }))
  }
}

interface Asked {
  readonly caller: string
  readonly body: TextBody
  readonly inputs: readonly Readonly<Record<string, unknown>>[]
  readonly kind: Kind
  readonly shape: TextShape
}

/** What each task is given: the body, for one choice of one prompt. */
function copies(body: TextBody, prompts: readonly object[]): readonly Readonly<Record<string, unknown>>[] {
  const { n, ...rest } = body
  return prompts.flatMap(prompt => Array.from({ length: n ?? 1 }, () => ({ ...rest, ...prompt })))
}

async function* resumed(
  first: IteratorResult<ExchangeNews, void>,
  rest: AsyncGenerator<ExchangeNews, void>,
): AsyncGenerator<ExchangeNews, void> {
  if (first.done !== true) yield first.value
  yield* rest
}
