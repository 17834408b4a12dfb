import type { FastifyReply } from 'fastify'
import { JobWatch } from '../../serving/job-watch.ts'
import { OpenStreams } from '../../serving/open-streams.ts'
import { EVENT_STREAM } from '../../serving/sse.ts'
import { ask } from './asked.ts'
import type { OpenAiContext } from './context.ts'
import { Exchange } from './exchange.ts'
import { findModel, type Kind } from './models.ts'

export interface Wish {
  readonly owner: string
  readonly model: string
  readonly kind: Kind
  readonly inputs: readonly Readonly<Record<string, unknown>>[]
}

/** Takes requests in as tasks, and knows which answers are still on their way. */
export class Desk {
  readonly context: OpenAiContext
  readonly #watch: JobWatch
  readonly #open = new OpenStreams()
  readonly #stopping = new AbortController()

  constructor(context: OpenAiContext) {
    this.context = context
    this.#watch = new JobWatch(context)
  }

  /** The tasks are durable when this returns; `id` is the first one's. */
  async open(
    reply: FastifyReply,
    { owner, model, kind, inputs }: Wish,
  ): Promise<{ readonly exchange: Exchange; readonly id: string }> {
    const { context } = this
    const book = await context.presets.current()
    const request = { owner, book, preset: findModel(book, model, kind), kind, inputs }
    const rows = await ask(context, request)
    const ports = { context, watch: this.#watch, stopping: this.#stopping.signal }
    const exchange = new Exchange(ports, request, rows)
    if (reply.raw.destroyed) exchange.leave()
    else reply.raw.once('close', () => exchange.leave())
    const id = rows[0]?.id ?? ''
    reply.header('x-request-id', id)
    return { exchange, id }
  }

  stream(reply: FastifyReply, owner: string, pieces: AsyncGenerator<string, void>): FastifyReply {
    reply.header('cache-control', 'no-cache')
    return this.#open.sendTo(owner, reply, EVENT_STREAM, () => pieces)
  }

  /** Ends every answer with an error that says why; the tasks go on. */
  async close(): Promise<void> {
    this.#stopping.abort()
    await this.#open.closeAll()
  }
}
