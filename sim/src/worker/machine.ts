import { type EndedReport, fenceKey, type Offer, type OutputStream } from '@stoker/protocol'
import { MOST_AHEAD } from '../../../hub/src/engine/look-ahead.ts'
import type { Random } from '../world/random.ts'
import type { Timeline } from '../world/timeline.ts'

/** What a simulated program does, written into its spec's input. */
export interface ProgramPlan {
  readonly runMs: number
  readonly outBytes: number
  /** Attempts that fail before one succeeds. */
  readonly failures: number
}

/** A program under its keeper: goes on while the worker is dead, and leaves a record of its end. */
export interface Program {
  readonly key: string
  readonly offer: Offer
  readonly startedAt: number
  readonly sizes: Record<OutputStream, number>
  stoppedBy: { readonly cause: 'canceled' | 'stale' | 'shutdown' | 'session'; readonly text: string } | null
  end: EndedReport | null
}

export interface MachineEvents {
  readonly output: (program: Program) => void
  readonly ended: (program: Program) => void
}

/** Two machines of one host share its devices: device → attempts, and whether each shares it. */
export type DeviceUse = Map<string, Map<string, boolean>>

/** A machine: its devices, and the programs that run on it whoever watches them. */
export class Machine {
  readonly programs = new Map<string, Program>()
  /** Tasks that wait for a place in their session, by key: their worker has written them down. */
  readonly ahead = new Map<string, Offer>()
  readonly #timeline: Timeline
  readonly #random: Random
  readonly #wall: () => number
  readonly #devices: DeviceUse
  readonly #conflict: (uuid: string, holder: string, taker: string) => void
  events: MachineEvents | null = null
  #boot = 0

  constructor(options: {
    readonly timeline: Timeline
    readonly random: Random
    readonly wall: () => number
    readonly devices: DeviceUse
    readonly conflict: (uuid: string, holder: string, taker: string) => void
  }) {
    this.#timeline = options.timeline
    this.#random = options.random
    this.#wall = options.wall
    this.#devices = options.devices
    this.#conflict = options.conflict
  }

  get running(): number {
    return [...this.programs.values()].filter(program => program.end === null).length
  }

  launch(offer: Offer): Program {
    const key = fenceKey(offer.fence)
    const sizes = { stdout: 0, stderr: 0 }
    const program: Program = { key, offer, startedAt: this.#wall(), sizes, stoppedBy: null, end: null }
    this.programs.set(key, program)
    const isShared = offer.spec.resources.gpuSharing === 'shared'
    for (const uuid of offer.gpus) {
      const holders = this.#devices.get(uuid) ?? new Map<string, boolean>()
      for (const [holder, shares] of holders)
        if (holder !== key && !(shares && isShared)) this.#conflict(uuid, holder, key)
      this.#devices.set(uuid, holders.set(key, isShared))
    }
    if (offer.spec.session === null) this.#run(program, planOf(offer))
    else this.#keep(program, planOf(offer))
    return program
  }

  /** A task runs inside its session, or waits for a place there; null if that is gone or leaves. */
  launchTask(offer: Offer): Program | 'ahead' | null {
    const host = offer.session === undefined ? undefined : this.programs.get(fenceKey(offer.session))
    if (host === undefined || host.end !== null || host.stoppedBy !== null) return null
    if (this.#tasksOf(host).length < (host.offer.spec.session?.concurrency ?? 1)) return this.launch(offer)
    this.ahead.set(fenceKey(offer.fence), offer)
    if (this.aheadOf(host.key).length > MOST_AHEAD)
      this.#conflict(`session ${host.key}`, `${MOST_AHEAD} tasks ahead`, fenceKey(offer.fence))
    return 'ahead'
  }

  /** In the order they came. */
  aheadOf(session: string): readonly Offer[] {
    return [...this.ahead.values()].filter(offer => offer.session !== undefined && fenceKey(offer.session) === session)
  }

  stop(program: Program, reason: NonNullable<Program['stoppedBy']>): void {
    if (program.end !== null || program.stoppedBy !== null) return
    program.stoppedBy = reason
    const host = this.#hostOf(program)
    const graceMs = reason.cause === 'stale' ? 5 : this.#random.pauseMs(200)
    this.#later(program, Math.min(10_000, graceMs), () => {
      if (reason.cause === 'session') this.#finish(program, 'completed', 0)
      else if (host === null || reason.cause === 'shutdown') this.#finish(program, 'canceled', null)
      else this.#finishTask(program, host, 'canceled')
    })
  }

  /** The machine restarts: every program is gone and no record tells of it. */
  reboot(): void {
    this.#boot += 1
    for (const program of this.programs.values()) if (program.end === null) this.#freeDevices(program)
    this.programs.clear()
    this.ahead.clear()
  }

  #run(program: Program, { runMs, outBytes, failures }: ProgramPlan): void {
    const { spec, fence } = program.offer
    const lastsMs = spec.timeoutMs === null ? runMs : Math.min(runMs, spec.timeoutMs)
    const pieces = outBytes === 0 ? 0 : this.#random.between(1, 4)
    for (let piece = 1; piece <= pieces; piece += 1)
      this.#later(program, (lastsMs * piece) / (pieces + 1), () => this.#print(program, outBytes / pieces))
    this.#later(program, lastsMs, () => {
      const host = this.#hostOf(program)
      if (runMs > lastsMs && host !== null) this.#finishTask(program, host, 'timed_out')
      else if (runMs > lastsMs) this.#finish(program, 'timed_out', null)
      else if (fence.attempt <= failures) this.#finish(program, 'failed', 1)
      else this.#finish(program, 'completed', 0)
    })
  }

  /** Alive until it is asked to leave, but for the attempts that crash. */
  #keep(program: Program, { runMs, failures }: ProgramPlan): void {
    if (program.offer.fence.attempt <= failures) this.#later(program, runMs, () => this.#finish(program, 'failed', 1))
  }

  /** A program cannot be interrupted in one task only: its session ends with it. */
  #finishTask(program: Program, host: Program, outcome: 'canceled' | 'timed_out'): void {
    this.#finish(program, outcome, null)
    if (host.end === null) this.#finish(host, 'failed', null)
  }

  #hostOf({ offer }: Program): Program | null {
    return offer.session === undefined ? null : (this.programs.get(fenceKey(offer.session)) ?? null)
  }

  #tasksOf(host: Program): readonly Program[] {
    if (host.offer.spec.session === null) return []
    return [...this.programs.values()].filter(one => one.end === null && this.#hostOf(one) === host)
  }

  #print(program: Program, bytes: number): void {
    const toStderr = this.#random.int(Math.ceil(bytes / 2))
    program.sizes.stderr += toStderr
    program.sizes.stdout += Math.ceil(bytes) - toStderr
    this.events?.output(program)
  }

  #finish(program: Program, outcome: EndedReport['outcome'], exitCode: number | null): void {
    const { fence } = program.offer
    for (const task of this.#tasksOf(program)) {
      task.stoppedBy ??= program.stoppedBy
      this.#finish(task, program.stoppedBy?.cause === 'shutdown' ? 'canceled' : 'failed', null)
    }
    const isShutdown = program.stoppedBy?.cause === 'shutdown' && outcome === 'canceled'
    program.end = {
      kind: 'ended',
      fence,
      at: this.#wall(),
      outcome: isShutdown ? 'lost' : outcome,
      startedAt: program.startedAt,
      exitCode,
      signal: null,
      error: outcome === 'completed' ? null : (program.stoppedBy?.text ?? outcome),
      note: null,
      result: outcome === 'completed' ? { by: program.key } : null,
      usage: null,
    }
    this.#freeDevices(program)
    this.events?.ended(program)
  }

  #freeDevices({ key, offer }: Program): void {
    for (const uuid of offer.gpus) this.#devices.get(uuid)?.delete(key)
  }

  #later(program: Program, ms: number, run: () => void): void {
    const boot = this.#boot
    this.#timeline.in(ms, () => {
      if (boot === this.#boot && program.end === null && this.programs.get(program.key) === program) run()
    })
  }
}

export function planOf({ spec }: Offer): ProgramPlan {
  const { runMs, outBytes, failures } = spec.input
  return { runMs: Number(runMs ?? 0), outBytes: Number(outBytes ?? 0), failures: Number(failures ?? 0) }
}
