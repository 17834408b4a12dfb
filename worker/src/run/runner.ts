import { statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Fence,
  fenceKey,
  type GpuSample,
  type Holding,
  isInline,
  type LiveAttempt,
  type Offer,
} from '@stoker/protocol'
import type { Execution } from '../executors/port.ts'
import { AttemptRun, type StopReason } from './attempt-run.ts'
import { Declined } from './declined.ts'
import { InlineRun } from './inline-run.ts'
import { chooseIsolation, type Isolation } from './isolation.ts'
import { endedExecution } from './left-over.ts'
import { OutputsStep } from './outputs-step.ts'
import { type ProgramFate, unstartedReport } from './program-end.ts'
import { withProgramOutputs } from './program-outputs.ts'
import { SecretsWithheld } from './secrets.ts'
import { SessionRun } from './session-run.ts'
import { Sessions } from './sessions.ts'
import { type SetUpPorts, setUpProgram } from './set-up.ts'

export interface RunnerPorts extends SetUpPorts {
  readonly now: () => number
}

const STOPPED_EARLY = { canceled: 'canceled', stale: 'canceled', shutdown: 'lost' } as const

/** All attempts of this worker, from their offer to their end. */
export class Runner {
  readonly #ports: RunnerPorts
  readonly #runs = new Map<string, AttemptRun | SessionRun>()
  readonly #sessions: Sessions
  readonly #inline = new Map<string, InlineRun>()
  /** Stops that came while the program was still being set up. */
  readonly #early = new Map<string, StopReason>()
  readonly #settingUp = new Map<string, AbortController>()
  #idle: (() => void)[] = []

  constructor(ports: RunnerPorts) {
    this.#ports = ports
    this.#sessions = new Sessions(ports)
  }

  get count(): number {
    return this.#runs.size + this.#inline.size + this.#settingUp.size + this.#sessions.taskCount
  }

  /** Devices that running programs have. */
  get devicesInUse(): ReadonlySet<string> {
    return new Set([...this.#runs.values()].flatMap(run => run.offer.gpus))
  }

  start(offer: Offer): void {
    if (offer.spec.type === 'task') this.#sessions.take(offer)
    else if (isInline(offer.spec.type)) this.#startInline(offer)
    else void this.#startProgram(withProgramOutputs(offer))
  }

  stop(fence: Fence, reason: StopReason): void {
    const key = fenceKey(fence)
    if (this.#sessions.stopTask(fence, reason)) return
    this.#inline.get(key)?.stop(reason)
    const run = this.#runs.get(key)
    if (run !== undefined) run.stop(reason, reason.cause === 'stale' ? 0 : undefined)
    else this.#stopEarly(key, reason)
  }

  stopAll(reason: StopReason, graceMs?: number): void {
    for (const run of [...this.#inline.values()]) run.stop(reason)
    for (const key of this.#settingUp.keys()) this.#stopEarly(key, reason)
    for (const run of this.#runs.values()) run.stop(reason, graceMs)
  }

  /** No tasks come any more: sessions finish those they have, and leave. */
  drain(on: boolean): void {
    this.#sessions.drain(on)
  }

  /** Resolves when nothing runs. */
  idle(): Promise<void> {
    if (this.count === 0) return Promise.resolve()
    return new Promise(resolve => {
      this.#idle.push(resolve)
    })
  }

  /** The output file of an attempt, for reading what is to be sent. */
  outputFolder(fence: Fence): string {
    return this.#ports.workspaces.folderOf(fence)
  }

  /** Live use of everything that runs. */
  async sample(gpus: readonly GpuSample[]): Promise<LiveAttempt[]> {
    const now = this.#ports.now()
    const samples = await Promise.all(
      [...this.#runs.values()].map(async run => {
        const usage = await run.sample(gpus, now)
        const ready = run instanceof SessionRun ? { ready: run.isReady } : {}
        return usage === null ? [] : [{ fence: run.offer.fence, progress: null, ...usage, ...ready }]
      }),
    )
    return samples.flat()
  }

  /** After a restart: goes on with what an earlier process of this worker left, and says what it holds. */
  async reattach(told: ReadonlySet<string>): Promise<readonly Holding[]> {
    const { workspaces, executor } = this.#ports
    const executions = new Map((await executor?.reattach())?.map(execution => [execution.key, execution]))
    const holding: Holding[] = []
    const left = await workspaces.left()
    this.#sessions.expectLeft(left, told)
    for (const { key, offer } of left) {
      const execution = executions.get(key) ?? (await endedExecution(workspaces.folderOfKey(key), key))
      if (offer !== null && told.has(key)) {
        await executions.get(key)?.release()
        executions.delete(key)
        holding.push({ fence: offer.fence, state: 'ended', startedAt: null })
      } else if (offer?.spec.type === 'task') continue
      else if (offer !== null && execution !== null) {
        // How it runs may have died with whoever should tell it; a hub that knows it does not listen.
        this.#follow(offer, execution, execution.containerId === null ? null : 'container')
        executions.delete(key)
        holding.push({ fence: offer.fence, state: 'running', startedAt: execution.startedAtMs })
      } else if (offer !== null && workspaces.wasFetching(key)) {
        void this.#startProgram(offer, true)
        holding.push({ fence: offer.fence, state: 'starting', startedAt: null })
      } else await workspaces.removeKey(key)
    }
    holding.push(...this.#sessions.resumed())
    for (const execution of executions.values()) endUnknown(execution)
    return holding
  }

  #startInline(offer: Offer): void {
    const { delivery, workspaces, now } = this.#ports
    const key = fenceKey(offer.fence)
    const ended = () => {
      this.#inline.delete(key)
      this.#maybeIdle()
    }
    const run = new InlineRun(offer, { delivery, workspaces, now, ended })
    if (!run.isOver) this.#inline.set(key, run)
  }

  #stopEarly(key: string, reason: StopReason): void {
    const settingUp = this.#settingUp.get(key)
    if (settingUp === undefined || this.#early.has(key)) return
    this.#early.set(key, reason)
    settingUp.abort()
  }

  async #startProgram(offer: Offer, isAgain = false): Promise<void> {
    const key = fenceKey(offer.fence)
    const stop = new AbortController()
    this.#settingUp.set(key, stop)
    if (offer.spec.session !== null) this.#sessions.expect(key)
    try {
      const opener = () => this.#sessions.firstTask(key)
      const execution = await setUpProgram(offer, this.#ports, { signal: stop.signal, isAgain, opener })
      this.#settingUp.delete(key)
      this.#follow(offer, execution, this.#isolationOf(offer))
      const early = this.#early.get(key)
      if (early !== undefined) this.stop(offer.fence, early)
    } catch (error) {
      this.#settingUp.delete(key)
      this.#setUpFailed(offer, error, this.#early.get(key))
    } finally {
      this.#early.delete(key)
      this.#maybeIdle()
    }
  }

  #isolationOf(offer: Offer): Isolation['isolation'] {
    const choice = chooseIsolation(offer.spec, this.#ports.abilities)
    if (typeof choice !== 'string') return choice.isolation
    return offer.spec.container === null ? 'none' : 'container'
  }

  #follow(offer: Offer, execution: Execution, isolation: Isolation['isolation'] | null): void {
    const key = fenceKey(offer.fence)
    const { delivery, transfers } = this.#ports
    const outputs = new OutputsStep(offer, execution.folder, transfers, delivery)
    const run =
      offer.spec.session === null
        ? new AttemptRun(offer, execution, delivery, isolation, outputs)
        : this.#sessions.begin(offer, execution, outputs, isolation)
    this.#runs.set(key, run)
    void run
      .follow()
      .catch(error => this.#setUpFailed(offer, error))
      .finally(() => {
        this.#runs.delete(key)
        this.#sessions.over(key)
        this.#maybeIdle()
      })
  }

  #setUpFailed(offer: Offer, error: unknown, early?: StopReason): void {
    const { delivery, workspaces, now } = this.#ports
    this.#sessions.over(fenceKey(offer.fence))
    const reason = early?.text ?? (error instanceof Error ? error.message : String(error))
    if (error instanceof Declined || (error instanceof SecretsWithheld && !error.final)) {
      delivery.report([{ kind: 'declined', fence: offer.fence, at: now(), reason }])
      return
    }
    const fate: ProgramFate =
      early?.cause === 'session'
        ? { outcome: 'completed', error: null, note: reason }
        : { outcome: early === undefined ? 'failed' : STOPPED_EARLY[early.cause], error: reason, note: null }
    const said = statSync(join(workspaces.folderOf(offer.fence), 'stderr'), { throwIfNoEntry: false })?.size ?? 0
    delivery.report([unstartedReport(offer.fence, now(), fate)], { stdout: 0, stderr: said })
  }

  #maybeIdle(): void {
    if (this.count > 0) return
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }
}

/** Its end is durable at the hub, or nobody knows what it was for: its keeper is only waiting for the word. */
function endUnknown(execution: Execution): void {
  execution.stop('canceled', 0)
  void execution.ended.then(() => execution.release())
}
