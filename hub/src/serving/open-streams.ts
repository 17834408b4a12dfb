import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { RateLimited } from './rate-limit.ts'

/** Bytes as they come, until nothing more will come or the signal says that nobody listens. */
export type Following = (signal: AbortSignal) => AsyncGenerator<string | Uint8Array, void>

/** How long a stop waits for readers who do not read. */
const LAST_WORDS_MS = 1000
/** Each holds a socket and what its reader asked for. */
const MOST_OF_ONE_OWNER = 1000
const TRY_AGAIN_MS = 5000

/** Answers that go on: each is pulled by its reader, so a slow one holds what it asked for and nothing more. */
export class OpenStreams {
  readonly #open = new Set<AbortController>()
  readonly #byOwner = new Map<string, number>()
  #emptied = (): void => {}

  get size(): number {
    return this.#open.size
  }

  /** The empty first piece makes the headers leave before there is anything to say. */
  send(reply: FastifyReply, contentType: string, follow: Following): FastifyReply {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff')
    return this.sendTo(reply.request.caller?.owner ?? '', reply, contentType, follow)
  }

  /** For one of this owner, who may have only so many at once. */
  sendTo(owner: string, reply: FastifyReply, contentType: string, follow: Following): FastifyReply {
    const ofOwner = this.#byOwner.get(owner) ?? 0
    if (ofOwner >= MOST_OF_ONE_OWNER)
      throw new RateLimited(`${owner} follows ${ofOwner} streams at once, the most of one owner`, TRY_AGAIN_MS)
    this.#byOwner.set(owner, ofOwner + 1)
    const controller = new AbortController()
    this.#open.add(controller)
    const close = (): void => {
      if (this.#open.delete(controller)) this.#left(owner)
      controller.abort()
      if (this.#open.size === 0) this.#emptied()
    }
    if (reply.raw.destroyed) close()
    else reply.raw.once('close', close)
    const body = Readable.from(withHead(follow(controller.signal)))
    return reply.header('content-type', contentType).header('x-accel-buffering', 'no').send(body)
  }

  #left(owner: string): void {
    const left = (this.#byOwner.get(owner) ?? 1) - 1
    if (left === 0) this.#byOwner.delete(owner)
    else this.#byOwner.set(owner, left)
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
