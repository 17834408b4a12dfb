import type { Refused, Report } from '@stoker/protocol'
import type { Command, NewJob, ReplyTo } from '../../../hub/src/engine/commands.ts'
import { type Batch, Core } from '../../../hub/src/engine/core.ts'
import { carryLiveness } from '../../../hub/src/engine/liveness.ts'
import { Recovering } from '../../../hub/src/engine/recover.ts'
import type { Now, State } from '../../../hub/src/engine/state.ts'
import type { Policy } from '../../../hub/src/scheduler/policy.ts'
import { schedulingRules } from '../../../hub/src/scheduler/rules.ts'
import { createMemoryTables, type MemoryTables } from '../../../hub/src/store/memory/tables.ts'
import { Process } from '../world/process.ts'
import type { Random } from '../world/random.ts'
import type { Timeline } from '../world/timeline.ts'
import { SimClock } from './sim-clock.ts'
import type { SimConnection, SimConnectionPorts } from './sim-connection.ts'
import { type Credentials, SimGateway } from './sim-gateway.ts'
import { type CrashPoint, SimLoop } from './sim-loop.ts'
import { type Segments, SimStreams } from './sim-streams.ts'

const TICK_MS = 1000

export interface SimHubPorts {
  readonly timeline: Timeline
  readonly random: Random
  readonly policy: Policy
  readonly specs: ReadonlyMap<number, Pick<NewJob, 'id' | 'spec'>> | null
  readonly diesAt: (point: CrashPoint) => boolean
  readonly durable: (batch: Batch) => void
  readonly recovered: (state: State) => void
  readonly isSlow: () => boolean
  readonly publishesFirst: boolean
  readonly answersFirst: boolean
  readonly tamper: ((core: Core, report: Report, worker: string) => void) | null
}

/** What dies with the hub's process. */
interface Running {
  readonly process: Process
  readonly loop: SimLoop
  readonly gateway: SimGateway
  readonly clock: SimClock
}

/** A hub that can crash anywhere, pause, lose its clock and its disk space; its tables and segments outlive it. */
export class SimHub {
  readonly tables: MemoryTables = createMemoryTables()
  readonly segments: Segments = new Map()
  readonly #ports: SimHubPorts
  #running: Running | null = null
  skewMs = 0
  isDiskFull = false
  #hasReserve = true
  #reserveWrites = 0

  constructor(ports: SimHubPorts) {
    this.#ports = ports
  }

  get isUp(): boolean {
    return this.#running !== null
  }

  get state(): State | null {
    return this.#running?.loop.state ?? null
  }

  /** The hub's own clock. */
  get wall(): number | null {
    return this.#running?.clock.now().wall ?? null
  }

  get now(): Now | null {
    return this.#running?.clock.now() ?? null
  }

  get isIdle(): boolean {
    return this.#running?.loop.isIdle ?? false
  }

  start(): void {
    const { timeline, random, policy } = this.#ports
    const process = new Process(timeline)
    const clock = new SimClock(
      () => timeline.now,
      () => this.skewMs,
    )
    let core = this.#recoverCore(clock)
    this.#ports.recovered(core.state)
    const { wall } = clock.now()
    core.record({ c: 'epoch', epoch: Math.max(core.state.epoch + 1, Math.floor(wall / 1000)), at: wall })
    const first = core.finish(clock.now())
    if (first !== null) {
      this.tables.applyCommit(first.commit)
      this.#ports.durable(first)
    }
    const after = (ms: number, run: () => void) => process.after(ms, run)
    const pause = (typicalMs: number) => () => (this.#ports.isSlow() ? random.pauseMs(typicalMs * 8) : typicalMs)
    const isDiskFull = () => this.#refusesWrite()
    const loop: SimLoop = new SimLoop(core, {
      ...{ tables: this.tables, now: clock.now, after, isDiskFull },
      commitMs: pause(1),
      factsMs: pause(0.1),
      diesAt: this.#ports.diesAt,
      openReserve: () => this.#openReserve(),
      recover: () => {
        const before = loop.state
        core = new Core(this.#recover(clock), policy, schedulingRules)
        carryLiveness(before, core.state)
        return core
      },
      durable: batch => {
        this.#ports.durable(batch)
        for (const change of batch.changes)
          if (change.c === 'attemptEnded' || change.c === 'released') streams.ended(change)
      },
      publish: batch => gateway.publish(batch),
      publishesFirst: this.#ports.publishesFirst,
    })
    const streams = new SimStreams({
      ...{ tables: this.tables, segments: this.segments, after, isDiskFull },
      now: () => timeline.now,
      syncMs: pause(1),
      answersFirst: this.#ports.answersFirst,
    })
    const { tamper } = this.#ports
    const gateway = new SimGateway({
      ...{ loop, streams, after, tables: this.tables, specs: this.#ports.specs },
      now: () => timeline.now,
      queryMs: pause(0.2),
      tamper: tamper === null ? null : (report, worker) => tamper(core, report, worker),
    })
    this.#running = { process, loop, gateway, clock }
    this.#tick(this.#running)
  }

  /** What was decided and not yet answered may have reached the disk or not. */
  crash(): void {
    const running = this.#running
    if (running === null) return
    this.#running = null
    running.process.die()
    for (const batch of running.loop.inFlight) {
      if (this.isDiskFull || this.#ports.random.chance(0.5)) return
      this.tables.applyCommit(batch.commit)
      this.#ports.durable(batch)
    }
  }

  pause(): void {
    this.#running?.process.pause()
  }

  resume(): void {
    this.#running?.process.resume()
  }

  /** The disk has room again, and the reserve is filled. */
  freeDisk(): void {
    this.isDiskFull = false
    this.#hasReserve = true
  }

  execute<C extends Command>(
    command: C,
    done: (reply: ReplyTo<C>) => void,
    refused: (error: Refused) => void,
  ): boolean {
    const running = this.#running
    if (running === null) return false
    running.process.enter(() => running.loop.execute(command, done, refused))
    return true
  }

  /** Null when nobody listens. */
  accept(
    credentials: Credentials,
    link: Pick<SimConnectionPorts, 'send' | 'hangUp' | 'answers'>,
  ): { readonly connection: SimConnection; readonly process: Process; readonly closed: () => void } | null {
    const running = this.#running
    if (running === null || running.process.isPaused) return null
    const connection = running.gateway.accept(credentials, link)
    return { connection, process: running.process, closed: () => running.gateway.closed(connection) }
  }

  #tick(running: Running): void {
    const { process, clock, loop, gateway } = running
    const ignore = () => {}
    process.after(TICK_MS, () => {
      clock.tick()
      loop.execute({ kind: 'tick' }, ignore, ignore)
      gateway.tick()
      this.#tick(running)
    })
  }

  #openReserve(): boolean {
    const had = this.#hasReserve
    this.#hasReserve = false
    if (had) this.#reserveWrites = this.#ports.random.between(5, 200)
    return had
  }

  /** The given-up reserve buys some writes; then the disk is full for good until room is made. */
  #refusesWrite(): boolean {
    if (!this.isDiskFull) return false
    this.#reserveWrites -= 1
    return this.#hasReserve || this.#reserveWrites < 0
  }

  #recoverCore(clock: SimClock): Core {
    return new Core(this.#recover(clock), this.#ports.policy, schedulingRules)
  }

  #recover(clock: SimClock): State {
    const recovering = new Recovering()
    const rows = this.tables.recover(recovering.visit)
    return recovering.finish(rows, clock.now())
  }
}
