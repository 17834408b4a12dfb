import type { Log } from '@stoker/files'
import type { Trust } from '@stoker/net'
import type { AttemptReport, Fence, HubMessage, OutputStream, Progress, Report } from '@stoker/protocol'
import type { Runner, RunnerPorts } from '../../run/runner.ts'
import type { Introduction, SessionAction, SessionEvent } from '../../session/session-words.ts'
import type { SpoolBatch } from '../../session/spool.ts'
import { WorkerSession } from '../../session/worker-session.ts'
import type { Link, LinkEvents } from '../link.ts'
import { LiveReporter, type LiveSources } from './live-reporter.ts'
import { NativeSocket } from './native-socket.ts'
import { payloadOf } from './payload.ts'
import type { SpoolFile } from './spool-file.ts'

export interface NativePorts extends LinkEvents {
  readonly hubUrl: string
  readonly secret: string
  readonly join: string | null
  readonly trust?: Trust | undefined
  readonly introduction: Introduction
  readonly spoolFile: SpoolFile
  readonly workspaces: RunnerPorts['workspaces']
  readonly sources: Omit<LiveSources, 'spoolBytes'>
  readonly now: () => number
  /** Never jumps: what time passed is measured with it. */
  readonly steadyNow: () => number
  readonly random: () => number
  readonly log: Log
}

/** The minor of the protocol from which hubs hear of new abilities without a new connection. */
const HEARS_ABILITIES = 2
/** And of checkpoints. */
const HEARS_CHECKPOINTS = 3

/** Our own protocol: carries out what the session decides, between the socket, the spool file and the runner. */
export class NativeLink implements Link {
  readonly #ports: NativePorts
  readonly #socket: NativeSocket
  #session: WorkerSession | null = null
  #runner: Runner | null = null
  #live: LiveReporter | null = null
  #ticker: NodeJS.Timeout | null = null
  #redial: NodeJS.Timeout | null = null
  #flushing: NodeJS.Immediate | null = null
  #gathering: NodeJS.Timeout | null = null
  #sending: Promise<void> = Promise.resolve()
  #pendingSends = 0
  #lastAck = 0
  /** What happened before the session existed, while programs of an earlier process are taken over. */
  #early: SessionEvent[] | null = null
  #connection = 0
  /** What the hub was told last that this worker can do, and whether it hears of changes. */
  #told = { abilities: '', mayChange: false }
  /** Of the hub that welcomed it last. */
  #hubMinor = 0
  #wasAway = false
  #isLeaving = false
  #emptied: (() => void)[] = []

  constructor(ports: NativePorts) {
    this.#ports = ports
    this.#socket = new NativeSocket(ports.hubUrl, ports, {
      connected: () => this.#step({ e: 'connected' }),
      closed: why => this.#closed(why),
      message: (message: HubMessage) => this.#step({ e: 'message', message }),
    })
  }

  async start(runner: Runner): Promise<void> {
    const { spoolFile, random } = this.#ports
    this.#runner = runner
    this.#live = new LiveReporter(
      { ...this.#ports.sources, spoolBytes: () => spoolFile.spool.unackedBytes },
      runner,
      live => {
        if (this.#session?.isOpen === true) this.#socket.send(live)
      },
    )
    const early: SessionEvent[] = []
    this.#early = early
    const holding = await runner.reattach(spoolFile.endsTold)
    this.#session = new WorkerSession({ spool: spoolFile.spool, epochSeen: spoolFile.epochSeen, holding, random })
    this.#early = null
    for (const event of early) this.#step(event)
    this.#ticker = setInterval(() => this.#step({ e: 'tick' }), 500)
    this.#perform(this.#session.start())
  }

  report(reports: readonly AttemptReport[], sizes?: Readonly<Record<OutputStream, number>>): void {
    const [first] = reports
    if (first?.kind === 'checkpoint' && this.#hubMinor < HEARS_CHECKPOINTS) return
    const output = first === undefined || sizes === undefined ? undefined : { fence: first.fence, sizes }
    this.#step({ e: 'report', reports, output })
    this.#flushSoon()
  }

  output(fence: Fence, sizes: Readonly<Record<OutputStream, number>>): void {
    this.#step({ e: 'output', fence, sizes })
    this.#flushSoon()
  }

  progress(fence: Fence, progress: Progress): void {
    this.#live?.progress(fence, progress)
  }

  tellAbilities(): void {
    const { abilities } = this.#ports.introduction
    const text = JSON.stringify(abilities)
    if (this.#session?.isOpen !== true || !this.#told.mayChange || text === this.#told.abilities) return
    this.#told = { ...this.#told, abilities: text }
    this.#socket.send({ t: 'abilities', abilities })
  }

  ready(fence: Fence): void {
    this.#live?.ready(fence)
  }

  drain(): void {
    this.#step({ e: 'drain', on: true })
  }

  async leave(reason: string, withinMs: number): Promise<void> {
    this.#isLeaving = true
    if (this.#session !== null && !this.#session.spool.isEmpty && this.#session.isOpen) {
      await new Promise<void>(resolve => {
        this.#emptied.push(resolve)
        setTimeout(resolve, withinMs).unref()
      })
    }
    this.#step({ e: 'leave', reason })
    await this.close()
  }

  async close(): Promise<void> {
    this.#isLeaving = true
    if (this.#ticker !== null) clearInterval(this.#ticker)
    for (const timer of [this.#redial, this.#gathering]) if (timer !== null) clearTimeout(timer)
    this.#live?.stop()
    await this.#sending
    await this.#socket.close()
    this.#ports.spoolFile.close()
  }

  #flushSoon(): void {
    this.#flushing ??= setImmediate(() => {
      this.#flushing = null
      this.#step({ e: 'flush' })
    })
  }

  /** A later word may only be that it is sooner. */
  #flushIn(inMs: number): void {
    if (this.#gathering !== null) clearTimeout(this.#gathering)
    this.#gathering = setTimeout(() => {
      this.#gathering = null
      this.#step({ e: 'flush' })
    }, inMs)
  }

  #step(event: SessionEvent): void {
    if (this.#session === null) this.#early?.push(event)
    else this.#perform(this.#session.step(event, this.#ports.steadyNow(), this.#ports.now()))
  }

  #perform(actions: readonly SessionAction[]): void {
    for (const action of actions) this.#act(action)
  }

  #act(action: SessionAction): void {
    const { introduction, spoolFile } = this.#ports
    switch (action.a) {
      case 'dial':
        this.#dialIn(action.inMs)
        break
      case 'hang up':
        this.#socket.hangUp()
        break
      case 'hello':
        this.#connection += 1
        this.#told = { abilities: JSON.stringify(introduction.abilities), mayChange: false }
        this.#socket.send({ ...introduction, devices: [...this.#ports.sources.devices()], ...action.hello })
        break
      case 'batch':
        this.#send(action.batch, action.resent)
        break
      case 'gather':
        this.#flushIn(action.inMs)
        break
      case 'beat':
        this.#socket.send({ t: 'beat' })
        break
      case 'goodbye':
        this.#socket.send({ t: 'goodbye', reason: action.reason })
        break
      case 'acked':
        this.#acked(action.n, action.over)
        break
      case 'start':
        this.#runner?.start(action.offer)
        break
      case 'stop':
        this.#runner?.stop(action.stop.fence, {
          cause: action.stop.cause,
          text: action.stop.by ?? 'another attempt took its place',
        })
        break
      case 'draining':
        this.#ports.log('info', action.on ? 'draining: no new jobs are taken' : 'taking jobs again')
        this.#runner?.drain(action.on)
        break
      case 'welcomed':
        spoolFile.sawEpoch(action.welcome.epoch)
        this.#live?.start(action.welcome.liveMs)
        this.#hubMinor = action.welcome.protocol.minor
        this.#told = { ...this.#told, mayChange: this.#hubMinor >= HEARS_ABILITIES }
        this.tellAbilities()
        this.#runner?.drain(action.welcome.draining)
        if (this.#wasAway) this.#ports.log('info', 'connected to the hub again')
        this.#wasAway = false
        this.#ports.connection(true)
        this.#ports.ready()
        break
      case 'refused':
        this.#ports.log('error', `the hub refused this worker: ${action.message}`)
        if (action.final) this.#ports.refused(action.message)
        break
    }
  }

  /** Recorded before its first sending. Bytes are read when they are sent; batches leave in their order, and only on the connection they were meant for. */
  #send(batch: SpoolBatch, resent: boolean): void {
    const json = JSON.stringify({ t: 'report', ...batch } satisfies Report)
    if (!resent) this.#ports.spoolFile.record(json)
    const connection = this.#connection
    if (batch.chunks.length === 0 && this.#pendingSends === 0) {
      this.#socket.sendReport(json, [])
      return
    }
    this.#pendingSends += 1
    this.#sending = this.#sending.then(async () => {
      const payload = await payloadOf(batch.chunks, fence => this.#ports.workspaces.folderOf(fence))
      if (connection === this.#connection) this.#socket.sendReport(json, payload)
      this.#pendingSends -= 1
    })
  }

  #acked(n: number, over: readonly Fence[]): void {
    const { spoolFile, workspaces } = this.#ports
    if (over.length > 0 || n > this.#lastAck) spoolFile.acked(n, this.#session?.epochSeen ?? 0)
    this.#lastAck = n
    for (const fence of over) void workspaces.remove(fence)
    if (this.#session?.spool.isEmpty === true) for (const resolve of this.#emptied.splice(0)) resolve()
  }

  #dialIn(inMs: number): void {
    if (this.#isLeaving) return
    this.#redial = setTimeout(() => this.#socket.dial(), inMs)
  }

  #closed(why: string): void {
    this.#live?.pause()
    this.#ports.connection(false)
    if (!this.#wasAway && !this.#isLeaving)
      this.#ports.log('warn', `no connection to ${this.#ports.hubUrl} (${why}); jobs go on, trying again`)
    this.#wasAway = true
    this.#step({ e: 'closed' })
  }
}
