import {
  type AttemptReport,
  type EndedReport,
  formatSize,
  type GpuSample,
  type Offer,
  outcomeOf,
  type ProgramOutcome,
} from '@stoker/protocol'
import { ProgramWatch } from '../events/program-watch.ts'
import type { Execution, Executor, Exit, LaunchOrder } from '../executors/port.ts'
import type { Delivery } from './delivery.ts'
import { OutputFollower } from './follow.ts'
import type { Isolation } from './isolation.ts'
import type { OutputsStep } from './outputs-step.ts'
import { UsageMeter } from './usage.ts'

/** Between SIGTERM and SIGKILL for a program that is asked to stop. */
export const GRACE_MS = 10_000

/** A program that ends sooner than this is told in one report with its end: one commit at the hub instead of two. */
const FOLD_MS = 15

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
  readonly #running: AttemptReport | null
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
    this.#running =
      isolation === null ? null : { kind: 'running', fence: offer.fence, at: execution.startedAtMs, isolation }
    this.#meter = new UsageMeter(offer.gpus)
    this.#watch = new ProgramWatch(progress => delivery.progress(offer.fence, progress))
    this.#follower = new OutputFollower(execution.folder, this.#watch)
  }

  /** Resolves when the end was told and the keeper is free again. */
  async follow(): Promise<void> {
    this.#execution.onOutput(sizes => {
      this.#sizes = sizes
      if (!this.#execution.hasEnded) this.#delivery.output(this.offer.fence, sizes)
      void this.#follower.upTo(sizes)
    })
    let isTold = this.#running === null
    const telling = setTimeout(() => {
      isTold = true
      if (this.#running !== null) this.#delivery.report([this.#running])
    }, FOLD_MS)
    const exit = await this.#execution.ended
    if (this.offer.spec.outputs.length === 0) clearTimeout(telling)
    else this.#delivery.output(this.offer.fence, this.#sizes)
    await this.#follower.upTo(this.#sizes)
    this.#watch.end()
    const ended = await this.#outputs.finish(this.#endedReport(exit))
    clearTimeout(telling)
    this.#delivery.report(isTold || this.#running === null ? [ended] : [this.#running, ended], this.#sizes)
    await this.#execution.release()
  }

  stop(reason: StopReason, graceMs = GRACE_MS): void {
    this.#stop ??= reason
    this.#execution.stop('canceled', graceMs)
    this.#outputs.hurry(reason.cause, graceMs)
  }

  sample(gpus: readonly GpuSample[], now: number) {
    return this.#meter.sample(this.#execution, gpus, now)
  }

  #endedReport(exit: Exit): EndedReport {
    const { outcome, error, note } = this.#outcome(exit)
    const result = this.#watch.result
    const ran = exit.startError === null && !exit.keeperLost
    return {
      kind: 'ended',
      fence: this.offer.fence,
      at: exit.endedAtMs,
      outcome,
      startedAt: exit.startError === null ? exit.startedAtMs : null,
      exitCode: exit.exitCode,
      signal: exit.signal,
      error,
      note:
        [note, result.note, droppedNote(exit, this.offer.spec.outputLimitBytes)].filter(n => n !== null).join('; ') ||
        null,
      result: result.value as EndedReport['result'],
      usage: ran ? this.#meter.total(exit) : null,
    }
  }

  #outcome(exit: Exit): Omit<ProgramOutcome, 'outcome'> & { readonly outcome: EndedReport['outcome'] } {
    if (exit.keeperLost) return lost('its keeper vanished: the machine restarted or the keeper was killed')
    if (exit.stoppedBy === 'abandoned') return lost('no worker came back to it in time')
    if (exit.startError !== null) return { outcome: 'failed', error: exit.startError, note: null }
    if (exit.overDisk === true) return { outcome: 'failed', error: overDisk(this.offer), note: null }
    if (exit.stoppedBy === 'canceled' && this.#stop?.cause === 'shutdown') return lost(this.#stop.text)
    return outcomeOf({
      finish: this.#watch.finish,
      exitCode: exit.exitCode,
      signal: exit.signal,
      oomLimitText: exit.oom ? formatSize(this.offer.spec.resources.memoryBytes ?? 0) : null,
      deadlinePassed: exit.stoppedBy === 'deadline',
      canceledBy: exit.stoppedBy === 'canceled' ? (this.#stop?.text ?? 'canceled') : null,
      lastStderr: this.#watch.lastStderr,
    })
  }
}

function lost(error: string) {
  return { outcome: 'lost' as const, error, note: null }
}

function overDisk({ spec }: Offer): string {
  const limit = spec.resources.diskBytes
  return limit === null
    ? 'out of disk: its work folder took what the worker had free but a reserve'
    : `out of disk: its work folder grew beyond the limit of ${formatSize(limit)}`
}

function droppedNote({ droppedBytes }: Exit, limitBytes: number): string | null {
  const dropped = droppedBytes.stdout + droppedBytes.stderr
  return dropped === 0
    ? null
    : `${formatSize(dropped)} of output above the limit of ${formatSize(limitBytes)} were dropped`
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
    ...order,
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
  })
}

/** Enough for data loaders and compilers, too few for a fork bomb. */
const MAX_PIDS = 4096
