import type { Fence, GpuSample, Holding, Offer } from '@stoker/protocol'
import { ProgramWatch } from '../events/program-watch.ts'
import type { Execution, Exit, LinesWritten } from '../executors/port.ts'
import { GRACE_MS, runningReport, type StopReason } from './attempt-run.ts'
import type { Delivery } from './delivery.ts'
import { OutputFollower } from './follow.ts'
import type { Isolation } from './isolation.ts'
import type { OutputsStep } from './outputs-step.ts'
import { droppedNote, endedReport, lostFate } from './program-end.ts'
import { SessionJournal, type Stopped } from './session-journal.ts'
import { SessionOutput } from './session-output.ts'
import { SessionTasks } from './session-tasks.ts'
import { sessionFate } from './task-end.ts'
import type { TaskRun } from './task-run.ts'
import { UsageMeter } from './usage.ts'
import type { Workspaces } from './workspace.ts'

/** Reasons to leave at the end of the input: nothing is wrong with the program. */
const ORDERLY: ReadonlySet<string> = new Set(['session', 'shutdown', 'input'])

export interface SessionPorts {
  readonly delivery: Delivery
  readonly workspaces: Workspaces
  readonly outputs: OutputsStep
  readonly now: () => number
}

/**
 * The passage of one session: its program is kept, takes tasks line by line, and is asked to leave in the end.
 * open -stop, a stopped task, drained and idle, input refused-> leaving -program gone, output drained-> tasks told, then the session.
 */
export class SessionRun {
  readonly offer: Offer
  readonly #execution: Execution
  readonly #ports: SessionPorts
  readonly #journal: SessionJournal
  readonly #tasks: SessionTasks
  readonly #output: SessionOutput
  readonly #watch: ProgramWatch
  readonly #follower: OutputFollower
  readonly #meter: UsageMeter
  #stop: Stopped | null
  #isDraining = false
  #isRefused = false

  /** `isolation` is null for a program taken over from an earlier process of this worker; `left` are that one's tasks, by key. */
  constructor(
    offer: Offer,
    execution: Execution,
    ports: SessionPorts,
    isolation: Isolation['isolation'] | null,
    left: ReadonlyMap<string, Offer> = new Map(),
  ) {
    this.offer = offer
    this.#execution = execution
    this.#ports = ports
    const { folder } = execution
    const { delivery, workspaces, now } = ports
    this.#journal = new SessionJournal(folder)
    this.#stop = this.#journal.stop
    this.#watch = new ProgramWatch(progress => delivery.progress(offer.fence, progress))
    this.#follower = new OutputFollower(folder, this.#watch)
    const more = {
      journal: this.#journal,
      watch: this.#watch,
      give: (n: number, line: string) => execution.line(n, line),
      heard: (stdout: number) => execution.heard(stdout),
      timedOut: (task: TaskRun) => this.#timedOut(task),
      idle: () => this.#leaveIfUseless(),
    }
    this.#tasks = new SessionTasks(offer, folder, { delivery, workspaces, now, ...more }, left)
    const { heard } = this.#journal
    this.#output = new SessionOutput(
      folder,
      heard.at,
      piece => this.#tasks.hear(piece),
      () => this.#tasks.flush(),
    )
    this.#meter = new UsageMeter(offer.gpus)
    // At once, before its tasks: others may wait for its places.
    if (isolation !== null) delivery.report([runningReport(offer, execution, isolation)])
  }

  get isReady(): boolean {
    return this.#tasks.isReady
  }

  /** Of tasks. */
  get count(): number {
    return this.#tasks.count
  }

  get holding(): readonly Holding[] {
    return this.#tasks.holding
  }

  /** Why it takes no more tasks, or null. */
  get refusal(): string | null {
    if (this.#stop !== null) return `its session is ending: ${this.#stop.text}`
    if (this.#isRefused) return 'the program of its session has closed its input'
    return this.#execution.hasEnded ? 'its session has just ended' : null
  }

  /** Resolves when the ends of all tasks and its own were told, and the keeper is free again. */
  async follow(): Promise<void> {
    this.#output.drain(this.#execution.sizes.stdout)
    if (!this.#execution.hasEnded) this.#goOn()
    const exit = await this.#execution.ended
    const { stdout, stderr } = this.#execution.sizes
    this.#output.drain(stdout)
    this.#output.end()
    await this.#follower.upTo({ stdout: 0, stderr })
    this.#watch.end()
    await this.#tellEnd(exit)
    await this.#execution.release()
  }

  take(offer: Offer): void {
    this.#tasks.take(offer)
  }

  /**
   * True when the task is one of this session's. The program cannot be interrupted, so it ends with the task. One that is
   * stale is left to finish: another attempt of it counts, and whatever this one says is thrown away by the hub.
   */
  stopTask(fence: Fence, { cause, text }: StopReason): boolean {
    if (this.#tasks.cancelWaiting(fence, text)) return true
    const task = this.#tasks.find(fence)
    if (task !== null && cause !== 'stale') this.#endWith(task, { cause, text }, `its task ${task.id} was canceled`)
    return task !== null
  }

  stop({ cause, text }: StopReason, graceMs = GRACE_MS): void {
    this.#leave({ cause, text }, graceMs)
    this.#ports.outputs.hurry(cause, graceMs)
  }

  /** On a draining worker a session finishes its tasks and leaves. */
  drain(on: boolean): void {
    this.#isDraining = on
    this.#leaveIfUseless()
  }

  sample(gpus: readonly GpuSample[], now: number) {
    return this.#meter.sample(this.#execution, gpus, now)
  }

  #goOn(): void {
    this.#tasks.resumed()
    if (this.#stop !== null) this.#enforce(this.#stop.cause, GRACE_MS)
    this.#execution.onLines(written => this.#fed(written))
    this.#execution.onOutput(({ stdout, stderr }) => {
      if (this.#execution.hasEnded) return
      void this.#follower.upTo({ stdout: 0, stderr })
      this.#output.grew(stdout)
      this.#ports.delivery.output(this.offer.fence, { stdout: this.#tasks.own.size, stderr })
    })
  }

  #fed({ n, refused }: LinesWritten): void {
    if (!refused || this.#isRefused) return
    this.#isRefused = true
    this.#tasks.refused(n, lostFate('the program of its session has closed its input'))
    this.#leaveIfUseless()
  }

  #timedOut(task: TaskRun): void {
    this.#endWith(task, { cause: 'deadline', text: 'Task timeout exceeded' }, `its task ${task.id} timed out`)
  }

  #endWith(task: TaskRun, stop: Stopped, text: string): void {
    if (this.#execution.hasEnded) return
    this.#tasks.stopTask(task, stop)
    this.#leave({ cause: 'task', text }, GRACE_MS)
  }

  #leaveIfUseless(): void {
    if (!this.#tasks.isIdle || this.#stop !== null) return
    if (this.#isRefused) this.#leave({ cause: 'input', text: 'its program closed its input' }, GRACE_MS)
    else if (this.#isDraining) this.#leave({ cause: 'shutdown', text: 'its worker is draining' }, GRACE_MS)
  }

  /** The first reason is the one that is told; a later one can only make it sooner. */
  #leave(stop: Stopped, graceMs: number): void {
    if (this.#execution.hasEnded) return
    if (this.#stop === null) {
      this.#journal.stopped(stop)
      this.#stop = stop
    }
    this.#enforce(stop.cause, graceMs)
  }

  /** The end of its input asks a program to leave; what must not go on is stopped by signals. */
  #enforce(cause: string, graceMs: number): void {
    if (ORDERLY.has(cause) && graceMs > 0) this.#execution.endInput(cause === 'shutdown' ? graceMs / 2 : graceMs)
    else this.#execution.stop('canceled', cause === 'stale' ? 0 : graceMs)
  }

  async #tellEnd(exit: Exit): Promise<void> {
    const end = { offer: this.offer, exit, stop: this.#stop, lastStderr: this.#watch.lastStderr }
    this.#tasks.endAll(end)
    this.#journal.close()
    const { size, dropped } = this.#tasks.own.state
    const sizes = { stdout: size, stderr: this.#execution.sizes.stderr }
    if (this.offer.spec.outputs.length > 0) this.#ports.delivery.output(this.offer.fence, sizes)
    const usage = exit.startError === null && !exit.keeperLost ? this.#meter.total(exit) : null
    const note = droppedNote(dropped, this.offer.spec.outputLimitBytes)
    const ended = endedReport(this.offer, exit, sessionFate(end), { result: null, note, usage })
    this.#ports.delivery.report([await this.#ports.outputs.finish(ended)], sizes)
  }
}
