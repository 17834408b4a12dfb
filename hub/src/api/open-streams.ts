import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'

/** Bytes as they come, until nothing more will come or the signal says that nobody listens. */
export type Following = (signal: AbortSignal) => AsyncGenerator<string | Uint8Array, void>

/** How long a stop waits for readers who do not read. */
const LAST_WORDS_MS = 1000

/** Answers that go on: each is pulled by its reader, so a slow one holds what it asked for and nothing more. */
export class OpenStreams {
  readonly #open = new Set<AbortController>()
  #emptied = (): void => {}

  get size(): number {
    return this.#open.size
  }

  /** The empty first piece makes the headers leave before there is anything to say. */
  send(reply: FastifyReply, contentType: string, follow: Following): FastifyReply {
    const controller = new AbortController()
    this.#open.add(controller)
    const close = (): void => {
      this.#open.delete(controller)
      controller.abort()
      if (this.#open.size === 0) this.#emptied()
    }
    if (reply.raw.destroyed) close()
    else reply.raw.once('close', close)
    const body = Readable.from(withHead(follow(controller.signal)))
    return reply
      .header('content-type', contentType)
      .header('cache-control', 'no-store')
      .header('x-content-type-options', 'nosniff')
      .header('x-accel-buffering', 'no')
      .send(body)
  }

  /** Ends them all in order, so that followers know to come back and where to go on. */
  async closeAll(): Promise<void> {
    for (const controller of this.#open) controller.abort()
    if (this.#open.size === 0) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, LAST_WORDS_MS)
      this.#emptied = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

async function* withHead(pieces: AsyncGenerator<string | Uint8Array, void>): AsyncGenerator<string | Uint8Array, void> {
  yield ''
  yield* pieces
}
