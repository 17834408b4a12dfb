import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { type DialectCaller, straightenPath } from '../../../../serving/dialect-caller.ts'
import { JobWatch } from '../../../../serving/job-watch.ts'
import { RateLimited } from '../../../../serving/rate-limit.ts'
import { refuseUpgrade } from '../../../../serving/upgrades.ts'
import { knownCaller, LOOKERS } from '../caller.ts'
import type { ConsumerContext } from '../context.ts'
import { ProviderWatch } from './provider-watch.ts'
import { Viewer } from './viewer.ts'

const MAX_MESSAGE_BYTES = 16 * 1024
/** A viewer is asked every so often whether it is there. */
const PING_MS = 30_000
/** It is dropped when it has not answered for so long. */
const SILENT_MS = 60_000
const MOST_OF_ONE_OWNER = 200

interface Place {
  readonly request: IncomingMessage
  readonly owner: string
  heardAt: number
}

/** All viewers that are connected by WebSocket, on whichever port they came. */
export class Viewers {
  readonly #context: ConsumerContext
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE_BYTES, perMessageDeflate: false })
  readonly #places = new Map<WebSocket, Place>()
  readonly #jobs: JobWatch
  readonly #providers: ProviderWatch
  readonly #timer: NodeJS.Timeout

  constructor(context: ConsumerContext, lookMs?: number | undefined) {
    this.#context = context
    this.#jobs = new JobWatch(context)
    this.#providers = new ProviderWatch(context, lookMs)
    this.#timer = setInterval(() => void this.look().catch(context.failed), PING_MS)
  }

  /** Viewers, and what of the hub is watched for them. */
  get watching(): { readonly viewers: number; readonly jobs: number; readonly providers: number } {
    return { viewers: this.#places.size, jobs: this.#jobs.size, providers: this.#providers.size }
  }

  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    straightenPath(request)
    void this.#admit(request, socket, head).catch(error => {
      this.#context.failed(error)
      refuseUpgrade(socket, '500 Internal Server Error')
    })
  }

  close(): void {
    clearInterval(this.#timer)
    for (const socket of this.#places.keys()) {
      socket.close(1001, 'the hub is stopping')
      socket.terminate()
    }
    this.#server.close()
  }

  async #admit(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (this.#context.isStopping()) return refuseUpgrade(socket, '503 Service Unavailable')
    if (!['/', '/ws'].includes(request.url?.split('?')[0] ?? '')) return refuseUpgrade(socket, '404 Not Found')
    const caller = await knownCaller(this.#context, request)
    const refusal = this.#refusalOf(caller, request)
    if (caller === null || refusal !== null) return refuseUpgrade(socket, refusal ?? '401 Unauthorized')
    if (socket.destroyed) return
    this.#server.handleUpgrade(request, socket, head, webSocket => this.#enter(webSocket, request, caller))
  }

  #refusalOf(caller: DialectCaller | null, request: IncomingMessage): string | null {
    if (caller === null) {
      try {
        this.#context.door.passStranger(request.socket.remoteAddress ?? '')
        return '401 Unauthorized'
      } catch (error) {
        if (error instanceof RateLimited) return '429 Too Many Requests'
        throw error
      }
    }
    if (!LOOKERS.includes(caller.role)) return '403 Forbidden'
    const ofOwner = [...this.#places.values()].filter(({ owner }) => owner === caller.owner).length
    return ofOwner >= MOST_OF_ONE_OWNER ? '429 Too Many Requests' : null
  }

  #enter(socket: WebSocket, request: IncomingMessage, caller: DialectCaller): void {
    const place: Place = { request, owner: caller.owner, heardAt: this.#context.now() }
    this.#places.set(socket, place)
    const hear = (): void => {
      place.heardAt = this.#context.now()
    }
    socket.on('pong', hear)
    socket.on('message', hear)
    socket.on('error', () => socket.terminate())
    socket.on('close', () => this.#places.delete(socket))
    new Viewer(socket, { context: this.#context, caller, jobs: this.#jobs, providers: this.#providers })
  }

  /** Who does not answer is gone; whose token was taken back has to go. */
  async look(): Promise<void> {
    for (const [socket, { heardAt, request }] of this.#places) {
      if (this.#context.now() - heardAt >= SILENT_MS) socket.terminate()
      else if ((await knownCaller(this.#context, request)) === null) socket.close(1008, 'the token is not valid')
      else socket.ping()
    }
  }
}
