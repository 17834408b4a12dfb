import type { AttemptReport, EndedReport, GpuSample, Offer } from '@stoker/protocol'
import { ProgramWatch } from '../events/program-watch.ts'
import type { Execution, Executor, Exit, LaunchOrder } from '../executors/port.ts'
import { CheckpointStep } from './checkpoint-step.ts'
import type { Delivery } from './delivery.ts'
import { OutputFollower } from './follow.ts'
import type { Isolation } from './isolation.ts'
import type { OutputsStep } from './outputs-step.ts'
import { endedReport, type ProgramFate, programFate } from './program-end.ts'
import { StartTelling } from './start-telling.ts'
import { UsageMeter } from './usage.ts'

/** Between SIGTERM and SIGKILL for a program that is asked to stop. */
export const GRACE_MS = 10_000

export interface StopReason {
  readonly cause: 'canceled' | 'stale' | 'shutdown' | 'session'
  readonly text: string
}

/**
 * The passage of one attempt whose program was started: follow its output, hear its events, tell its end.
 * The first reason to stop wins; the end is told after both streams are drained.
 */
export class AttemptRun {
  readonly offer: Offer
  readonly #execution: Execution
  readonly #delivery: Delivery
  readonly #watch: ProgramWatch
  readonly #follower: OutputFollower
  readonly #meter: UsageMeter
  readonly #outputs: OutputsStep
  readonly #checkpoints: CheckpointStep
  readonly #start: StartTelling
  #stop: StopReason | null = null
  #sizes = { stdout: 0, stderr: 0 }

  /** `isolation` is null for a program taken over from an earlier worker process: its start was told by that one. */
  constructor(
    offer: Offer,
    execution: Execution,
    delivery: Delivery,
    isolation: Isolation['isolation'] | null,
    outputs: OutputsStep,
  ) {
    this.offer = offer
    this.#execution = execution
    this.#delivery = delivery
    this.#outputs = outputs
    this.#start = new StartTelling(delivery, isolation === null ? null : runningReport(offer, execution, isolation))
    this.#meter = new UsageMeter(offer.gpus)
    this.#checkpoints = new CheckpointStep(offer, execution.folder, outputs.transfers, delivery)
    this.#watch = new ProgramWatch(
      progress => delivery.progress(offer.fence, progress),
      fields => this.#checkpoints.heard(fields),
    )
    this.#follower = new OutputFollower(execution.folder, this.#watch)
  }

  /** Resolves when the end was told and the keeper is free again. */
  async follow(): Promise<void> {
    this.#execution.onOutput(sizes => {
      this.#sizes = sizes
      if (!this.#execution.hasEnded) this.#delivery.output(this.offer.fence, sizes)
      void this.#follower.upTo(sizes)
    })
    const exit = await this.#execution.ended
    if (this.offer.spec.outputs.length === 0) this.#start.hold()
    else this.#delivery.output(this.offer.fence, this.#sizes)
    await this.#follower.upTo(this.#sizes)
    this.#watch.end()
    const report = this.#endedReport(exit)
    await this.#checkpoints.finish(report.outcome === 'completed')
    const ended = await this.#outputs.finish(report)
    this.#delivery.report(this.#start.with(ended), this.#sizes)
    await this.#execution.release()
  }

  stop(reason: StopReason, graceMs = GRACE_MS): void {
    this.#stop ??= reason
    this.#execution.stop('canceled', graceMs)
    this.#outputs.hurry(reason.cause, graceMs)
    if (reason.cause !== 'canceled') this.#checkpoints.hurry(graceMs)
  }

  sample(gpus: readonly GpuSample[], now: number) {
    return this.#meter.sample(this.#execution, gpus, now)
  }

  #endedReport(exit: Exit): EndedReport {
    const { value, note } = this.#watch.result
    const result = value as EndedReport['result']
    const usage =
      exit.startError === null && !exit.keeperLost && exit.lost === undefined ? this.#meter.total(exit) : null
    return endedReport(this.offer, exit, this.#fate(exit), { result, note, usage })
  }

  #fate(exit: Exit): ProgramFate {
    const { finish, lastStderr } = this.#watch
    return programFate(this.offer, exit, { finish, lastStderr, stop: this.#stop })
  }
}

/** That the program of an offer runs, and where. */
export function runningReport(
  { fence }: Offer,
  { startedAtMs: at, containerId }: Execution,
  isolation: Isolation['isolation'],
): AttemptReport {
  const inside = containerId === null ? {} : { containerId }
  return { kind: 'running', fence, at, isolation, ...inside }
}

export type Launch = Omit<
  LaunchOrder,
  'key' | 'folder' | 'stdin' | 'deadlineMs' | 'graceMs' | 'outputLimitBytes' | 'limits'
>

/** Starts the program of an offer in its folder. */
export function launch(
  executor: Executor,
  offer: Offer,
  folder: string,
  key: string,
  order: Launch,
): Promise<Execution> {
  const { spec } = offer
  return executor.start({
    key,
    folder,
    stdin: null,
    deadlineMs: spec.timeoutMs,
    graceMs: GRACE_MS,
    outputLimitBytes: spec.outputLimitBytes,
    limits: {
      cpuShare: Math.max(1, spec.resources.cpus),
      memoryBytes: spec.resources.memoryBytes,
      pids: MAX_PIDS,
      diskBytes: spec.resources.diskBytes,
    },
    ...order,
  })
}

/** Enough for data loaders and compilers, too few for a fork bomb. */
const MAX_PIDS = 4096
