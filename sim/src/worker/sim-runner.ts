import {
  type AttemptReport,
  type Fence,
  fenceKey,
  type Holding,
  isInline,
  type Offer,
  type OutputStream,
} from '@stoker/protocol'
import type { Process } from '../world/process.ts'
import type { Random } from '../world/random.ts'
import { type Machine, type Program, planOf } from './machine.ts'

export interface SimRunnerPorts {
  readonly process: Process
  readonly machine: Machine
  readonly random: Random
  readonly wall: () => number
  readonly report: (report: AttemptReport) => void
  /** A session says that it takes tasks. */
  readonly ready: (fence: Fence) => void
  readonly output: (fence: Fence, sizes: Readonly<Record<OutputStream, number>>) => void
  /** The chance that a program is declined at its set-up. */
  readonly declines: number
  readonly setUpMs: number
}

type StopReason = NonNullable<Program['stoppedBy']>

/** The worker's attempts from offer to end; inline ones live and die with the process, programs with their keepers. */
export class SimRunner {
  readonly #ports: SimRunnerPorts
  readonly #inline = new Map<string, { readonly offer: Offer; readonly startedAt: number }>()
  readonly #settingUp = new Set<string>()
  readonly #early = new Map<string, StopReason>()

  constructor(ports: SimRunnerPorts) {
    this.#ports = ports
    ports.machine.events = {
      output: program => ports.process.enter(() => ports.output(program.offer.fence, { ...program.sizes })),
      ended: program => ports.process.enter(() => this.#tellEnd(program)),
    }
  }

  get count(): number {
    const { running, ahead } = this.#ports.machine
    return this.#inline.size + this.#settingUp.size + running + ahead.size
  }

  start(offer: Offer): void {
    if (offer.spec.task !== null) this.#startTask(offer)
    else if (isInline(offer.spec.type)) this.#startInline(offer)
    else this.#startProgram(offer)
  }

  stop(fence: Fence, reason: StopReason): void {
    const key = fenceKey(fence)
    const inline = this.#inline.get(key)
    if (inline !== undefined) this.#endInline(key, inline, reason)
    const ahead = this.#ports.machine.ahead.get(key)
    if (ahead !== undefined && this.#ports.machine.ahead.delete(key))
      this.#tellInline({ offer: ahead, startedAt: null }, reason)
    const program = this.#ports.machine.programs.get(key)
    if (program !== undefined) this.#ports.machine.stop(program, reason)
    else if (this.#settingUp.has(key) && !this.#early.has(key)) this.#early.set(key, reason)
  }

  stopAll(reason: StopReason): void {
    for (const { offer } of [...this.#inline.values()]) this.stop(offer.fence, reason)
    for (const key of this.#settingUp) if (!this.#early.has(key)) this.#early.set(key, reason)
    for (const offer of [...this.#ports.machine.ahead.values()]) this.#decline(offer)
    for (const program of [...this.#ports.machine.programs.values()]) this.#ports.machine.stop(program, reason)
  }

  /** What an earlier process left: programs that run, and ends that were not recorded for sending. */
  reattach(told: ReadonlySet<string>): { readonly holding: readonly Holding[]; readonly tell: () => void } {
    const holding: Holding[] = []
    // Ends of tasks are told before that of their session.
    const all = [...this.#ports.machine.programs.values()]
    const programs = [...all.filter(({ offer }) => isTask(offer)), ...all.filter(({ offer }) => !isTask(offer))]
    for (const { key, offer, startedAt } of programs) {
      const { fence } = offer
      if (told.has(key)) holding.push({ fence, state: 'ended', startedAt: null })
      else holding.push({ fence, state: 'running', startedAt })
    }
    const ahead = [...this.#ports.machine.ahead.values()]
    for (const { fence } of ahead) holding.push({ fence, state: 'starting', startedAt: null })
    const tell = () => {
      for (const offer of ahead) {
        this.#ports.machine.ahead.delete(fenceKey(offer.fence))
        this.#startTask(offer)
      }
      for (const program of programs) {
        if (told.has(program.key)) continue
        if (program.sizes.stdout + program.sizes.stderr > 0)
          this.#ports.output(program.offer.fence, { ...program.sizes })
        if (program.end !== null) this.#ports.report(program.end)
      }
    }
    return { holding, tell }
  }

  /** The sessions that are ready, to be told on a new connection. */
  get readySessions(): readonly Fence[] {
    return [...this.#ports.machine.programs.values()]
      .filter(({ offer, end }) => offer.spec.session !== null && end === null)
      .map(({ offer }) => offer.fence)
  }

  #startInline(offer: Offer): void {
    const { process, wall, report } = this.#ports
    const key = fenceKey(offer.fence)
    const { runMs } = planOf(offer)
    const run = { offer, startedAt: wall() }
    if (runMs === 0) {
      this.#tellInline(run, null)
      return
    }
    this.#inline.set(key, run)
    process.after(runMs, () => {
      if (this.#inline.get(key) === run) this.#endInline(key, run, null)
    })
    report({ kind: 'running', fence: offer.fence, at: run.startedAt, isolation: 'inline' })
  }

  #endInline(key: string, run: { readonly offer: Offer; readonly startedAt: number }, stop: StopReason | null): void {
    this.#inline.delete(key)
    this.#tellInline(run, stop)
  }

  #tellInline(
    { offer, startedAt }: { readonly offer: Offer; readonly startedAt: number | null },
    stop: StopReason | null,
  ): void {
    const { fence } = offer
    const failed = stop === null && fence.attempt <= planOf(offer).failures
    const canceled = stop?.cause === 'shutdown' ? ('lost' as const) : ('canceled' as const)
    this.#ports.report({
      kind: 'ended',
      fence,
      at: this.#ports.wall(),
      outcome: stop !== null ? canceled : failed ? 'failed' : 'completed',
      startedAt,
      exitCode: stop === null ? (failed ? 1 : 0) : null,
      signal: null,
      error: stop?.text ?? (failed ? 'exited with code 1' : null),
      note: null,
      result: stop === null && !failed ? { by: fenceKey(fence) } : null,
      usage: null,
    })
  }

  #startProgram(offer: Offer): void {
    const { process, random, report, wall, setUpMs, declines, machine } = this.#ports
    const key = fenceKey(offer.fence)
    this.#settingUp.add(key)
    process.after(setUpMs * (0.5 + random.next()), () => {
      this.#settingUp.delete(key)
      const early = this.#early.get(key)
      this.#early.delete(key)
      if (random.chance(declines)) {
        report({ kind: 'declined', fence: offer.fence, at: wall(), reason: 'the set-up did not work here' })
        return
      }
      const program = machine.launch(offer)
      report({ kind: 'running', fence: offer.fence, at: program.startedAt, isolation: 'none' })
      if (early !== undefined) machine.stop(program, early)
      if (offer.spec.session !== null) process.after(setUpMs, () => this.#ports.ready(offer.fence))
    })
  }

  #startTask(offer: Offer): void {
    const { report, machine } = this.#ports
    const { fence } = offer
    const program = machine.launchTask(offer)
    if (program === null) this.#decline(offer)
    else if (program !== 'ahead') report({ kind: 'running', fence, at: program.startedAt, isolation: 'session' })
  }

  /** Those who waited for a place in a session are told before its end. */
  #tellEnd(program: Program): void {
    const { machine, output, report } = this.#ports
    for (const offer of machine.aheadOf(program.key)) this.#decline(offer)
    output(program.offer.fence, { ...program.sizes })
    if (program.end !== null) report(program.end)
    const { session } = program.offer
    const [next] = session === undefined ? [] : machine.aheadOf(fenceKey(session))
    if (next !== undefined && machine.ahead.delete(fenceKey(next.fence))) this.#startTask(next)
  }

  #decline({ fence }: Offer): void {
    const { machine, report, wall } = this.#ports
    machine.ahead.delete(fenceKey(fence))
    report({ kind: 'declined', fence, at: wall(), reason: 'its session is not here' })
  }
}

function isTask({ spec }: Offer): boolean {
  return spec.task !== null
}
