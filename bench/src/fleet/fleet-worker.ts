import type { AttemptReport, HostSample, Offer } from '@stoker/protocol'
import { inlineEnd } from '../../../worker/src/executors/inline.ts'
import { NativeSocket } from '../../../worker/src/links/native/native-socket.ts'
import type { Introduction, SessionAction } from '../../../worker/src/session/session-words.ts'
import { Spool } from '../../../worker/src/session/spool.ts'
import { WorkerSession } from '../../../worker/src/session/worker-session.ts'

const TICK_MS = 500
/** As many samples as a hub keeps of a worker: a fleet that has just come weighs as much as one that is there for long. */
const SAMPLES_AT_START = 60

export interface FleetWorkerPorts {
  readonly hubUrl: string
  readonly secret: string
  readonly join: string
  readonly introduction: Introduction
  readonly host: () => HostSample
  readonly welcomed: () => void
}

/** A worker's own session and link on a real socket, with its beats and its figures; of jobs it knows only the inline ones, and its spool dies with it. */
export class FleetWorker {
  readonly #ports: FleetWorkerPorts
  readonly #session = new WorkerSession({ spool: new Spool(), epochSeen: 0, holding: [], random: Math.random })
  readonly #link: NativeSocket
  readonly #ticker: NodeJS.Timeout
  #live: NodeJS.Timeout | undefined
  #flushing: NodeJS.Immediate | null = null
  #isNew = true
  #isClosed = false

  constructor(ports: FleetWorkerPorts) {
    this.#ports = ports
    this.#link = new NativeSocket(ports.hubUrl, ports, {
      connected: () => this.#step({ e: 'connected' }),
      closed: () => {
        clearInterval(this.#live)
        this.#step({ e: 'closed' })
      },
      message: message => this.#step({ e: 'message', message }),
    })
    this.#ticker = setInterval(() => this.#step({ e: 'tick' }), TICK_MS)
    this.#perform(this.#session.start())
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#ticker)
    await this.#link.close()
  }

  #step(event: Parameters<WorkerSession['step']>[0]): void {
    this.#perform(this.#session.step(event, performance.now(), Date.now()))
  }

  #perform(actions: readonly SessionAction[]): void {
    for (const action of actions) this.#act(action)
  }

  #act(action: SessionAction): void {
    switch (action.a) {
      case 'dial':
        if (!this.#isClosed) setTimeout(() => this.#link.dial(), action.inMs)
        break
      case 'hang up':
        this.#link.hangUp()
        break
      case 'hello':
        this.#link.send({ ...this.#ports.introduction, ...action.hello })
        break
      case 'welcomed':
        this.#live = setInterval(() => this.#tellLoad(), action.welcome.liveMs)
        for (let i = this.#isNew ? SAMPLES_AT_START : 1; i > 0; i -= 1) this.#tellLoad()
        this.#isNew = false
        this.#ports.welcomed()
        break
      case 'beat':
        this.#link.send({ t: 'beat' })
        break
      case 'gather':
        setTimeout(() => this.#step({ e: 'flush' }), action.inMs)
        break
      case 'batch':
        this.#link.sendReport(JSON.stringify({ t: 'report', ...action.batch }), [])
        break
      case 'start':
        this.#start(action.offer)
        break
      case 'refused':
        throw new Error(`the hub refused a worker of the fleet: ${action.message}`)
    }
  }

  /** The devices are simulated and say so: nothing uses them. */
  #tellLoad(): void {
    const { gpus } = this.#ports.introduction.hardware
    const idle = { utilization: 0, memoryUsedMb: 0, temperatureC: null, powerW: null, powerLimitW: null }
    this.#link.send({
      t: 'live',
      at: Date.now(),
      host: this.#ports.host(),
      gpus: gpus.map(({ uuid }) => ({ uuid, ...idle })),
      attempts: [],
      devices: gpus.map(({ uuid }) => ({ uuid, foreignMb: 0, fault: null })),
      spoolBytes: this.#session.spool.unackedBytes,
    })
  }

  #start({ fence, spec }: Offer): void {
    const startedAt = Date.now()
    const { runMs, end } = inlineEnd(spec)
    const { exitCode, result, error } = end
    const finish = () => {
      const rest = { startedAt, exitCode, signal: null, error, note: null, result, usage: null }
      const outcome = exitCode === 0 ? 'completed' : 'failed'
      this.#report({ kind: 'ended', fence, at: Date.now(), outcome, ...rest })
    }
    if (runMs === 0) {
      finish()
      return
    }
    this.#report({ kind: 'running', fence, at: startedAt, isolation: 'inline' })
    setTimeout(finish, runMs)
  }
  /** What happens in one moment shares a batch, as in a worker. */
  #report(report: AttemptReport): void {
    this.#step({ e: 'report', reports: [report] })
    this.#flushing ??= setImmediate(() => {
      this.#flushing = null
      this.#step({ e: 'flush' })
    })
  }
}
