import {
  type AttemptReport,
  fenceKey,
  type Holding,
  type HubMessage,
  incompatibility,
  type Offer,
  PROTOCOL,
  unpackOffers,
  type Welcome,
} from '@stoker/protocol'
import { Gathering } from './gathering.ts'
import type { SessionAction, SessionEvent } from './session-words.ts'
import type { Spool } from './spool.ts'

/** Without any word from the hub for this long the connection counts as dead; the hub answers every beat. */
const SILENCE_MS = 10_000
const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 4_000

/**
 * The worker's end of the native session, without I/O.
 * away: no connection, dialling with growing pauses. greeting: connected, hello sent. open: welcomed, batches flow. refused: the hub said no for good.
 */
export class WorkerSession {
  readonly spool: Spool
  readonly #random: () => number
  #phase: 'away' | 'greeting' | 'open' | 'refused' = 'away'
  #tries = 0
  #epoch: number
  /** This worker's own wish; the hub's wish is in force until its next word and is not told back to it. */
  #draining = false
  #drainedByHub = false
  #welcome: Welcome | null = null
  #heardAt = 0
  #beatAt = 0
  readonly #held = new Map<string, Holding>()
  readonly #gathering = new Gathering()
  /** Something waits for an acknowledgement before it can be said. */
  #isBlocked = false

  constructor(options: {
    readonly spool: Spool
    readonly epochSeen: number
    readonly holding: readonly Holding[]
    readonly random: () => number
  }) {
    this.spool = options.spool
    this.#epoch = options.epochSeen
    this.#random = options.random
    for (const holding of options.holding) {
      this.#held.set(fenceKey(holding.fence), holding)
      if (holding.state !== 'ended') this.#gathering.started()
    }
    // Ends that wait to be resent are still held, or the hub would take their attempts for lost.
    for (const { reports } of options.spool.unacked)
      for (const report of reports) if (report.kind === 'ended' || report.kind === 'declined') this.#note(report)
  }

  get epochSeen(): number {
    return this.#epoch
  }

  get isOpen(): boolean {
    return this.#phase === 'open'
  }

  get holding(): readonly Holding[] {
    return [...this.#held.values()]
  }

  start(): SessionAction[] {
    return [{ a: 'dial', inMs: 0 }]
  }

  /** `now` times beats and silence and never jumps; `wall` is what output and refusals are stamped with. */
  step(event: SessionEvent, now: number, wall = now): SessionAction[] {
    switch (event.e) {
      case 'connected':
        return this.#greet(now)
      case 'closed':
        return this.#lostConnection()
      case 'message':
        this.#heardAt = now
        return this.#hear(event.message, now, wall)
      case 'tick':
        return this.#tick(now)
      case 'report':
        if (event.output !== undefined) this.spool.outputGrew(event.output.fence, event.output.sizes)
        for (const report of event.reports) this.#report(report)
        return this.spool.hasFullBatch ? this.#flush(now, wall) : []
      case 'output':
        this.spool.outputGrew(event.fence, event.sizes)
        this.#gathering.hurry()
        return []
      case 'flush':
        return this.#flushOrGather(now, wall)
      case 'drain':
        this.#draining = event.on
        return []
      case 'leave':
        return this.#phase === 'open' ? [{ a: 'goodbye', reason: event.reason }] : []
    }
  }

  #greet(now: number): SessionAction[] {
    this.#phase = 'greeting'
    this.#heardAt = now
    const hello = {
      t: 'hello' as const,
      protocol: PROTOCOL,
      epochSeen: this.#epoch,
      nextBatch: this.spool.firstUnacked,
      holding: [...this.#held.values()],
      draining: this.#draining,
    }
    return [{ a: 'hello', hello }]
  }

  #hear(message: HubMessage, now: number, wall: number): SessionAction[] {
    if (message.t === 'welcome') return this.#welcomed(message, now, wall)
    if (message.t === 'refuse') {
      this.#phase = message.final ? 'refused' : this.#phase
      return [
        { a: 'refused', message: message.message, final: message.final },
        { a: 'hang up', why: message.message },
      ]
    }
    if (this.#phase !== 'open') return [{ a: 'hang up', why: `the hub said ${message.t} before welcome` }]
    switch (message.t) {
      case 'offers':
        return this.#takeAll(unpackOffers(message), now, wall)
      case 'ack':
        return this.#isBlocked ? [...this.#acked(message.n), ...this.#flush(now, wall)] : this.#acked(message.n)
      case 'stops':
        return message.stops
          .filter(stop => this.#held.has(fenceKey(stop.fence)))
          .map(stop => ({ a: 'stop' as const, stop }))
      case 'drain':
        this.#drainedByHub = message.on
        return [{ a: 'draining', on: message.on }]
    }
  }

  #welcomed(welcome: Welcome, now: number, wall: number): SessionAction[] {
    const why = incompatibility(PROTOCOL, welcome.protocol)
    if (why !== null) return this.#giveUp(why)
    if (welcome.epoch < this.#epoch)
      return [
        {
          a: 'hang up',
          why: `this hub is at epoch ${welcome.epoch}, epoch ${this.#epoch} was seen: it is not the leader any more`,
        },
      ]
    this.#phase = 'open'
    this.#tries = 0
    this.#epoch = welcome.epoch
    this.#welcome = welcome
    this.#drainedByHub = welcome.draining
    this.#beatAt = now
    const stops = welcome.stale.map(fence => ({
      a: 'stop' as const,
      stop: { fence, cause: 'stale' as const, by: null },
    }))
    const acked = this.#acked(welcome.ackedBatch)
    const resends = this.spool.unacked.map(batch => ({ a: 'batch' as const, batch, resent: true }))
    return [{ a: 'welcomed', welcome }, ...acked, ...resends, ...this.#flush(now, wall), ...stops]
  }

  #giveUp(why: string): SessionAction[] {
    this.#phase = 'refused'
    return [
      { a: 'refused', message: why, final: true },
      { a: 'hang up', why },
    ]
  }

  /** Batches go first: what is started may report at once, and a batch must not overtake an earlier one. */
  #takeAll(offers: readonly Offer[], now: number, wall: number): SessionAction[] {
    const starts: SessionAction[] = []
    for (const offer of offers) if (this.#take(offer, wall)) starts.push({ a: 'start', offer })
    const first = this.#flushOrGather(now, wall)
    return first.length === 0 ? starts : [...first, ...starts]
  }

  /** An offer seen before is not started twice: the hub repeats what it is not sure was heard. */
  #take(offer: Offer, wall: number): boolean {
    const key = fenceKey(offer.fence)
    if (this.#held.has(key)) return false
    this.#held.set(key, { fence: offer.fence, state: 'starting', startedAt: null })
    this.#gathering.started()
    if (!this.#draining && !this.#drainedByHub) return true
    this.#report({ kind: 'declined', fence: offer.fence, at: wall, reason: 'the worker is draining' })
    return false
  }

  #report(report: AttemptReport): void {
    this.#note(report)
    this.spool.report(report)
  }

  #acked(n: number): SessionAction[] {
    const over = this.spool.ack(n)
    for (const fence of over) this.#held.delete(fenceKey(fence))
    return [{ a: 'acked', n, over }]
  }

  #note(report: AttemptReport): void {
    if (report.kind === 'checkpoint') return
    const key = fenceKey(report.fence)
    const held = this.#held.get(key)
    const state = report.kind === 'declined' ? 'ended' : report.kind
    if (held === undefined) this.#gathering.started()
    if (state === 'ended' && held?.state !== 'ended') this.#gathering.ended()
    this.#held.set(key, {
      fence: report.fence,
      state,
      startedAt: report.kind === 'running' ? report.at : (held?.startedAt ?? null),
    })
  }

  #flushOrGather(now: number, wall: number): SessionAction[] {
    const inMs = this.spool.hasWaiting ? this.#gathering.waitMs(now) : 0
    return inMs > 0 ? [{ a: 'gather', inMs }] : this.#flush(now, wall)
  }

  #flush(now: number, wall: number): SessionAction[] {
    if (this.#phase !== 'open' || this.#welcome === null) return []
    const actions: SessionAction[] = []
    for (
      let batch = this.spool.next(wall, this.#welcome.creditBytes);
      batch !== null;
      batch = this.spool.next(wall, this.#welcome.creditBytes)
    ) {
      actions.push({ a: 'batch', batch, resent: false })
    }
    this.#isBlocked = this.spool.hasWaiting
    if (actions.length > 0) this.#gathering.said(now)
    return actions
  }

  #tick(now: number): SessionAction[] {
    if (this.#phase === 'away' || this.#phase === 'refused') return []
    if (now - this.#heardAt > SILENCE_MS)
      return [{ a: 'hang up', why: `the hub was silent for ${Math.round((now - this.#heardAt) / 1000)} s` }]
    const beatMs = this.#welcome?.beatMs ?? 3000
    if (this.#phase !== 'open' || now - this.#beatAt < beatMs) return []
    this.#beatAt = now
    return [{ a: 'beat' }]
  }

  /** Full jitter around a doubling pause: a hub that restarts is not met by all its workers at once. */
  #lostConnection(): SessionAction[] {
    if (this.#phase === 'refused') return []
    this.#phase = 'away'
    this.#welcome = null
    const ceiling = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#tries)
    this.#tries += 1
    return [{ a: 'dial', inMs: Math.round(ceiling * (0.5 + this.#random() / 2)) }]
  }
}
