import { type Fence, fenceKey, type HubMessage } from '@stoker/protocol'
import type { Introduction, SessionAction, SessionEvent } from '../../../worker/src/session/session-words.ts'
import type { SpoolBatch } from '../../../worker/src/session/spool.ts'
import { WorkerSession } from '../../../worker/src/session/worker-session.ts'
import type { WorkerFrame } from '../hub/sim-connection.ts'
import { outputBytes } from '../world/output-bytes.ts'
import { Process } from '../world/process.ts'
import type { Random } from '../world/random.ts'
import type { Timeline } from '../world/timeline.ts'
import type { Machine } from './machine.ts'
import { SimRunner } from './sim-runner.ts'
import { SimSpoolFile } from './sim-spool-file.ts'

const TICK_MS = 500
const NO_BYTES = new Uint8Array()

/** A worker's end of one connection. */
interface WorkerLink {
  send(frame: WorkerFrame): void
  hangUp(): void
}

export interface SimWorkerPorts {
  readonly timeline: Timeline
  readonly random: Random
  readonly machine: Machine
  readonly introduction: Omit<Introduction, 'bootId'>
  readonly wall: () => number
  /** Dials the hub; the ears are called on the worker's own process. */
  readonly dial: (ears: {
    readonly connected: (link: WorkerLink) => void
    readonly message: (message: HubMessage) => void
    readonly closed: () => void
  }) => void
  /** The worker forgets these batches: the hub must have them for good. */
  readonly forgets: (batches: readonly SpoolBatch[]) => void
  /** A planted bug: what is resent instead of what was recorded. */
  readonly resend: ((batch: SpoolBatch, unacked: readonly SpoolBatch[]) => SpoolBatch) | null
  /** The hub refused it for good: its process has ended, its programs go on. */
  readonly refused: () => void
  readonly declines: number
  readonly setUpMs: number
}

interface Running {
  readonly process: Process
  readonly session: WorkerSession
  readonly runner: SimRunner
  readonly bootId: string
  link: WorkerLink | null
  isLeaving: boolean
}

/** A worker's agent under virtual time: carries out what its session decides; its spool file and machine outlive it. */
export class SimWorker {
  readonly id: string
  readonly machine: Machine
  readonly #file = new SimSpoolFile()
  readonly #ports: SimWorkerPorts
  #boots = 0
  #running: Running | null = null
  /** The hub refused it for good. */
  refusal: string | null = null

  constructor(ports: SimWorkerPorts) {
    this.#ports = ports
    this.id = ports.introduction.workerId
    this.machine = ports.machine
  }

  get isUp(): boolean {
    return this.#running !== null
  }

  get isIdle(): boolean {
    return this.#running?.session.spool.isEmpty === true && this.#running.runner.count === 0
  }

  get isOpen(): boolean {
    return this.#running?.session.isOpen ?? false
  }

  start(): void {
    const { timeline, random, machine, wall, declines, setUpMs } = this.#ports
    const process = new Process(timeline)
    const { spool, epochSeen, endsTold } = this.#file.open()
    const runner = new SimRunner({
      ...{ process, machine, random, wall, declines, setUpMs },
      report: report => this.#tell({ e: 'report', reports: [report] }),
      ready: fence => this.#tellReady([fence]),
      output: (fence, sizes) => this.#tell({ e: 'output', fence, sizes }),
    })
    const { holding, tell } = runner.reattach(endsTold)
    const session = new WorkerSession({ spool, epochSeen, holding, random: () => random.next() })
    this.#boots += 1
    this.refusal = null
    const running = { process, session, runner, bootId: `${this.id}-${this.#boots}`, link: null, isLeaving: false }
    this.#running = running
    tell()
    this.#tick(running)
    this.#perform(running, session.start())
  }

  /** The process is gone at once; its programs go on. */
  crash(): void {
    const running = this.#running
    if (running === null) return
    this.#running = null
    this.machine.events = null
    running.process.die()
    running.link?.hangUp()
  }

  pause(): void {
    this.#running?.process.pause()
  }

  resume(): void {
    this.#running?.process.resume()
  }

  /** Leaves in order: stops everything, tells it, says goodbye. */
  leave(reason: string): void {
    const running = this.#running
    if (running === null || running.isLeaving) return
    running.isLeaving = true
    running.process.enter(() => {
      this.#step({ e: 'drain', on: true })
      running.runner.stopAll({ cause: 'shutdown', text: reason })
      this.#leaveWhenTold(running, reason, 40)
    })
  }

  #giveUp(message: string): void {
    this.refusal = message
    this.crash()
    this.#ports.refused()
  }

  #leaveWhenTold(running: Running, reason: string, tries: number): void {
    const isTold = running.session.spool.isEmpty && running.runner.count === 0
    if (!isTold && tries > 0) {
      running.process.after(250, () => this.#leaveWhenTold(running, reason, tries - 1))
      return
    }
    if (isTold) this.#step({ e: 'leave', reason })
    this.crash()
  }

  #tick(running: Running): void {
    running.process.after(TICK_MS, () => {
      this.#step({ e: 'tick' })
      this.#tick(running)
    })
  }

  #tell(event: SessionEvent): void {
    this.#step(event)
    this.#step({ e: 'flush' })
  }

  #tellReady(sessions: readonly Fence[]): void {
    const running = this.#running
    if (running === null || sessions.length === 0) return
    const attempts = sessions.map(fence => ({ fence, progress: null, cpus: null, memoryBytes: null, ready: true }))
    this.#send(running, {
      message: { t: 'live', at: this.#ports.wall(), host: null, gpus: [], attempts },
      payload: NO_BYTES,
    })
  }

  #step(event: SessionEvent): void {
    const running = this.#running
    if (running !== null)
      this.#perform(running, running.session.step(event, this.#ports.timeline.now, this.#ports.wall()))
  }

  #perform(running: Running, actions: readonly SessionAction[]): void {
    for (const action of actions) this.#act(running, action)
  }

  #act(running: Running, action: SessionAction): void {
    const { introduction } = this.#ports
    switch (action.a) {
      case 'dial':
        running.process.after(action.inMs, () => this.#dial(running))
        break
      case 'hang up':
        running.link?.hangUp()
        break
      case 'hello':
        this.#send(running, {
          message: { ...introduction, bootId: running.bootId, ...action.hello },
          payload: NO_BYTES,
        })
        break
      case 'batch':
        this.#sendBatch(running, action.batch, action.resent)
        break
      case 'gather':
        running.process.after(action.inMs, () => this.#step({ e: 'flush' }))
        break
      case 'beat':
        this.#send(running, { message: { t: 'beat' }, payload: NO_BYTES })
        break
      case 'goodbye':
        this.#send(running, { message: { t: 'goodbye', reason: action.reason }, payload: NO_BYTES })
        break
      case 'acked':
        if (action.over.length > 0 || action.n > 0)
          this.#file.acked(action.n, running.session.spool, running.session.epochSeen)
        if (this.machine.programs.size > 0)
          for (const fence of action.over) this.machine.programs.delete(fenceKey(fence))
        break
      case 'start':
        running.runner.start(action.offer)
        break
      case 'stop':
        running.runner.stop(action.stop.fence, {
          cause: action.stop.cause,
          text: action.stop.by ?? 'another attempt took its place',
        })
        break
      case 'welcomed':
        this.#file.sawEpoch(action.welcome.epoch)
        this.#tellReady(running.runner.readySessions)
        break
      case 'refused':
        if (action.final) this.#giveUp(action.message)
        break
      case 'draining':
        break
    }
  }

  #dial(running: Running): void {
    if (running.isLeaving) return
    this.#ports.dial({
      connected: link =>
        running.process.enter(() => {
          running.link = link
          this.#step({ e: 'connected' })
        }),
      message: message => running.process.enter(() => this.#hear(running, message)),
      closed: () =>
        running.process.enter(() => {
          running.link = null
          this.#step({ e: 'closed' })
        }),
    })
  }

  #hear(running: Running, message: HubMessage): void {
    const before = running.session.spool.unacked
    this.#step({ e: 'message', message })
    const { unacked, firstUnacked } = running.session.spool
    if (unacked !== before) this.#ports.forgets(before.filter(batch => batch.n < firstUnacked))
  }

  #sendBatch(running: Running, batch: SpoolBatch, resent: boolean): void {
    if (!resent) this.#file.record(batch)
    const { resend } = this.#ports
    const sent = resent && resend !== null ? resend(batch, running.session.spool.unacked) : batch
    const { n, reports, chunks } = sent
    this.#send(running, { message: { t: 'report', n, reports, chunks }, payload: payloadOf(sent) })
  }

  #send(running: Running, frame: WorkerFrame): void {
    running.link?.send(frame)
  }
}

function payloadOf({ chunks }: SpoolBatch): Uint8Array {
  const [only] = chunks
  if (only === undefined) return NO_BYTES
  if (chunks.length === 1) return outputBytes(only.fence, only.stream, only.offset, only.length)
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0))
  let at = 0
  for (const { fence, stream, offset, length } of chunks) {
    whole.set(outputBytes(fence, stream, offset, length), at)
    at += length
  }
  return whole
}
