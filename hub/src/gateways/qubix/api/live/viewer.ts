import { Refused } from '@stoker/protocol'
import type { RawData, WebSocket } from 'ws'
import type { DialectCaller } from '../../../../serving/dialect-caller.ts'
import type { JobWatch } from '../../../../serving/job-watch.ts'
import type { ConsumerContext } from '../context.ts'
import { knownProvider } from '../estimate.ts'
import { findJob } from '../find-job.ts'
import { isoTime, providersOf } from '../provider-views.ts'
import { statsOf } from '../stats.ts'
import { jobMessages } from './follow-job.ts'
import { readMessage, type ServerMessageType, type ViewerMessage } from './messages.ts'
import type { MarketNews, ProviderWatch } from './provider-watch.ts'

const MOST_SUBSCRIPTIONS = 100
/** Questions of a viewer that wait for their answers. */
const MOST_WAITING = 100
/** Beyond this a viewer is slow: what only tells the present is left out, what tells a story waits. */
const FULL_BYTES = 256 * 1024
const FULL_LOOK_MS = 50
const MOST_BYTES = 4 * 1024 * 1024

export interface ViewerPorts {
  readonly context: ConsumerContext
  readonly caller: DialectCaller
  readonly jobs: JobWatch
  readonly providers: ProviderWatch
}

type Subscribe = Extract<ViewerMessage, { type: `subscribe:${string}` }>

/** One connected page: what it asked to be told of, by the kind and id of each thing. */
export class Viewer {
  readonly #socket: WebSocket
  readonly #ports: ViewerPorts
  readonly #leave = new Map<string, () => void>()
  #turn: Promise<void> = Promise.resolve()
  #waiting = 0
  #isClosed = false

  constructor(socket: WebSocket, ports: ViewerPorts) {
    this.#socket = socket
    this.#ports = ports
    socket.on('message', (data, isBinary) => this.#hear(data, isBinary))
    socket.on('close', () => this.#end())
    this.#send('connected', { message: 'connected', timestamp: isoTime(ports.context.now()) })
  }

  get subscriptions(): number {
    return this.#leave.size
  }

  #end(): void {
    this.#isClosed = true
    for (const leave of this.#leave.values()) leave()
    this.#leave.clear()
  }

  /** Answered in order; whoever asks faster than that for long is sent away. */
  #hear(data: RawData, isBinary: boolean): void {
    const message = isBinary ? null : readMessage(String(data))
    this.#waiting += 1
    if (this.#waiting > MOST_WAITING) {
      this.#socket.close(1008, 'too many messages at once')
      return
    }
    this.#turn = this.#turn
      .then(() => this.#answer(message))
      .finally(() => {
        this.#waiting -= 1
      })
  }

  async #answer(message: ViewerMessage | null): Promise<void> {
    if (this.#isClosed) return
    try {
      if (message === null)
        throw new Refused('request.invalid', 'a message is {"type", "subscriptionId"} with a known type')
      if (message.type === 'ping') this.#send('pong', { timestamp: isoTime(this.#ports.context.now()) })
      else if (message.type === 'unsubscribe') this.#unsubscribe(message.subscriptionId)
      else await this.#subscribe(message)
    } catch (error) {
      if (!(error instanceof Refused)) this.#ports.context.failed(error)
      const told = error instanceof Refused ? error.message : 'internal error'
      this.#send('error', { message: told, type: message?.type ?? null })
    }
  }

  async #subscribe(message: Subscribe): Promise<void> {
    if (this.#leave.size >= MOST_SUBSCRIPTIONS)
      throw new Refused('request.invalid', `${MOST_SUBSCRIPTIONS} subscriptions are the most of one connection`)
    if (message.type === 'subscribe:job') return this.#followJob(message.subscriptionId)
    if (message.type === 'subscribe:provider') return this.#followProvider(message.subscriptionId)
    await this.#follow('marketplace', news => this.#tellMarket(news))
    this.#subscribed(message.type, undefined)
    await this.#tellStats()
  }

  /** Jobs are the caller's own, for an admin everybody's. */
  async #tellStats(): Promise<void> {
    const { context, caller } = this.#ports
    const owner = caller.role === 'admin' ? null : caller.owner
    this.#sendIfRoom('MARKETPLACE_UPDATE', await context.engine.read(state => statsOf(state, owner)))
  }

  async #followProvider(ref: string): Promise<void> {
    const { context } = this.#ports
    const { id } = knownProvider(await context.engine.read(state => providersOf(context, state)), ref)
    await this.#follow(`provider:${ref}`, ({ statuses, metrics }) => {
      for (const news of statuses) if (news.providerId === id) this.#sendIfRoom('PROVIDER_STATUS_CHANGED', news)
      for (const news of metrics) if (news.providerId === id) this.#sendIfRoom('GPU_METRICS_UPDATE', news)
    })
    this.#subscribed('subscribe:provider', ref)
  }

  async #follow(key: string, listener: (news: MarketNews) => void): Promise<void> {
    if (this.#leave.has(key)) return
    const leave = await this.#ports.providers.add(listener)
    if (this.#isClosed) leave()
    else this.#leave.set(key, leave)
  }

  #tellMarket({ statuses, hasNewStats }: MarketNews): void {
    for (const news of statuses) this.#sendIfRoom('PROVIDER_STATUS_CHANGED', news)
    if (hasNewStats) void this.#tellStats().catch(this.#ports.context.failed)
  }

  async #followJob(id: string): Promise<void> {
    const { context, caller, jobs } = this.#ports
    const key = `job:${id}`
    const row = await findJob(context, caller, id)
    this.#subscribed('subscribe:job', id)
    if (this.#leave.has(key) || this.#isClosed) return
    const gone = new AbortController()
    this.#leave.set(key, () => gone.abort())
    const tell = async () => {
      for await (const { type, data } of jobMessages(context, jobs, row, gone.signal)) {
        if (gone.signal.aborted) return
        this.#send(type, data)
        await this.#room(gone.signal)
      }
    }
    void tell()
      .catch(context.failed)
      .finally(() => {
        if (!gone.signal.aborted) this.#leave.delete(key)
      })
  }

  /** By the whole key or by the id alone; without one, everything. */
  #unsubscribe(named: string | undefined): void {
    for (const [key, leave] of this.#leave) {
      if (named !== undefined && key !== named && key.slice(key.indexOf(':') + 1) !== named) continue
      this.#leave.delete(key)
      leave()
    }
    this.#send('unsubscribed', { subscriptionId: named ?? null })
  }

  #subscribed(type: Subscribe['type'], subscriptionId: string | undefined): void {
    this.#send('subscribed', { type, subscriptionId: subscriptionId ?? 'marketplace' })
  }

  async #room(signal: AbortSignal): Promise<void> {
    while (this.#socket.bufferedAmount > FULL_BYTES && !signal.aborted)
      await new Promise(resolve => setTimeout(resolve, FULL_LOOK_MS))
  }

  #sendIfRoom(type: ServerMessageType, data: object): void {
    if (this.#socket.bufferedAmount <= FULL_BYTES) this.#send(type, data)
  }

  /** Who asks and asks and reads no answer is cut off. */
  #send(type: ServerMessageType, data: object): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#socket.bufferedAmount > MOST_BYTES) this.#socket.terminate()
    else this.#socket.send(JSON.stringify({ type, data }))
  }
}
