import {
  type Abilities,
  type Fence,
  type Hello,
  type HubMessage,
  incompatibility,
  type Live,
  type Offer,
  PROTOCOL,
  packOffers,
  type Report,
  type Stop,
  type WorkerMessage,
} from '@stoker/protocol'

/** How long a worker may take for its hello. */
const HELLO_MS = 10_000
const CREDIT_BYTES = 1024 * 1024
const BEAT_MS = 3_000
const LIVE_MS = 10_000

export type HubSessionEvent =
  | { readonly e: 'message'; readonly message: WorkerMessage; readonly payload: Uint8Array }
  | {
      readonly e: 'admitted'
      readonly ackedBatch: number
      readonly stale: readonly Fence[]
      readonly draining: boolean
      readonly epoch: number
    }
  | { readonly e: 'refused'; readonly code: string; readonly message: string; readonly final: boolean }
  | { readonly e: 'reported'; readonly ackedBatch: number; readonly stale: readonly Fence[] }
  | { readonly e: 'offer'; readonly offers: readonly Offer[] }
  | { readonly e: 'stop'; readonly stops: readonly Stop[] }
  | { readonly e: 'drain'; readonly on: boolean }
  | { readonly e: 'tick' }

export type HubSessionAction =
  | { readonly a: 'send'; readonly message: HubMessage }
  | { readonly a: 'admit'; readonly hello: Hello }
  | { readonly a: 'take'; readonly report: Report; readonly payload: Uint8Array }
  | { readonly a: 'live'; readonly live: Live }
  | { readonly a: 'able'; readonly abilities: Abilities }
  | { readonly a: 'leave'; readonly reason: string }
  | { readonly a: 'heard' }
  | { readonly a: 'close'; readonly why: string }

/**
 * The hub's end of the native session, without I/O.
 * silent: connected, no hello yet. admitting: the hello is being made durable, nothing is said. open: all flows. over: closing.
 */
export class HubSession {
  #phase: 'silent' | 'admitting' | 'open' | 'over' = 'silent'
  readonly #since: number
  readonly #version: string
  #worker: string | null = null
  #next = 0
  #acked = 0
  /** What was to be said while admitting; the welcome comes first. */
  #held: HubMessage[] = []

  constructor(options: { readonly now: number; readonly version: string }) {
    this.#since = options.now
    this.#version = options.version
  }

  get worker(): string | null {
    return this.#worker
  }

  get isOpen(): boolean {
    return this.#phase === 'open'
  }

  step(event: HubSessionEvent, now: number): HubSessionAction[] {
    if (this.#phase === 'over') return []
    switch (event.e) {
      case 'message':
        return this.#phase === 'open'
          ? [{ a: 'heard' }, ...this.#hear(event.message, event.payload)]
          : this.#hear(event.message, event.payload)
      case 'admitted':
        return this.#open(event)
      case 'refused':
        return [
          { a: 'send', message: { t: 'refuse', code: event.code, message: event.message, final: event.final } },
          ...this.#end(event.message),
        ]
      case 'reported':
        this.#acked = Math.max(this.#acked, event.ackedBatch)
        return event.stale.length === 0
          ? this.#say({ t: 'ack', n: this.#acked })
          : [
              ...this.#say({ t: 'ack', n: this.#acked }),
              ...this.#say({ t: 'stops', stops: event.stale.map(staleStop) }),
            ]
      case 'offer':
        return event.offers.length === 0 ? [] : this.#say(packOffers(event.offers))
      case 'stop':
        return event.stops.length === 0 ? [] : this.#say({ t: 'stops', stops: [...event.stops] })
      case 'drain':
        return this.#say({ t: 'drain', on: event.on })
      case 'tick':
        return this.#phase === 'silent' && now - this.#since > HELLO_MS
          ? this.#end(`no hello for ${HELLO_MS / 1000} s`)
          : []
    }
  }

  #hear(message: WorkerMessage, payload: Uint8Array): HubSessionAction[] {
    if (message.t === 'hello') return this.#greet(message)
    if (this.#phase !== 'open') return this.#end(`the worker said ${message.t} before it was welcome`)
    switch (message.t) {
      case 'report':
        return this.#takeReport(message, payload)
      case 'beat':
        return [{ a: 'send', message: { t: 'ack', n: this.#acked } }]
      case 'live':
        return [{ a: 'live', live: message }]
      case 'abilities':
        return [{ a: 'able', abilities: message.abilities }]
      case 'goodbye':
        return [{ a: 'leave', reason: message.reason }]
    }
  }

  #greet(hello: Hello): HubSessionAction[] {
    if (this.#phase !== 'silent') return this.#end('a second hello on one connection')
    const why = incompatibility(PROTOCOL, hello.protocol)
    if (why !== null) {
      return [
        { a: 'send', message: { t: 'refuse', code: 'protocol.incompatible', message: why, final: true } },
        ...this.#end(why),
      ]
    }
    this.#phase = 'admitting'
    this.#worker = hello.workerId
    return [{ a: 'admit', hello }]
  }

  #open(event: Extract<HubSessionEvent, { e: 'admitted' }>): HubSessionAction[] {
    this.#phase = 'open'
    this.#next = event.ackedBatch + 1
    this.#acked = event.ackedBatch
    const welcome: HubMessage = {
      t: 'welcome',
      protocol: PROTOCOL,
      version: this.#version,
      epoch: event.epoch,
      ackedBatch: event.ackedBatch,
      creditBytes: CREDIT_BYTES,
      beatMs: BEAT_MS,
      liveMs: LIVE_MS,
      stale: [...event.stale],
      draining: event.draining,
    }
    const held = this.#held
    this.#held = []
    return [welcome, ...held].map(message => ({ a: 'send' as const, message }))
  }

  /** Batches come in order on one connection; a repeat is passed on, the engine knows it and acknowledges again. */
  #takeReport(report: Report, payload: Uint8Array): HubSessionAction[] {
    let announced = 0
    for (const chunk of report.chunks) announced += chunk.length
    if (announced !== payload.length)
      return this.#end(`batch ${report.n} announces ${announced} bytes of output and carries ${payload.length}`)
    if (report.n > this.#next) return this.#end(`batch ${report.n} came, batch ${this.#next} is next`)
    if (report.n === this.#next) this.#next += 1
    return [{ a: 'take', report, payload }]
  }

  #say(message: HubMessage): HubSessionAction[] {
    if (this.#phase === 'admitting') {
      this.#held.push(message)
      return []
    }
    return this.#phase === 'open' ? [{ a: 'send', message }] : []
  }

  #end(why: string): HubSessionAction[] {
    this.#phase = 'over'
    return [{ a: 'close', why }]
  }
}

function staleStop(fence: Fence): Stop {
  return { fence, cause: 'stale', by: null }
}
