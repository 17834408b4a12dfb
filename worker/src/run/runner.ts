import { join } from 'node:path'
import {
  type Abilities,
  type Fence,
  fenceKey,
  type Gpu,
  type GpuSample,
  type Holding,
  isInline,
  type LiveAttempt,
  type Offer,
} from '@stoker/protocol'
import type { Execution, Executor } from '../executors/port.ts'
import { AttemptRun, launch, type StopReason } from './attempt-run.ts'
import type { Delivery } from './delivery.ts'
import { programEnv } from './environment.ts'
import { InlineRun } from './inline-run.ts'
import { chooseIsolation } from './isolation.ts'
import { endedExecution } from './left-over.ts'
import { programArgv } from './program.ts'
import { attemptSecrets, SecretsWithheld } from './secrets.ts'
import type { Workspaces } from './workspace.ts'

/** Set-up that makes no progress for this long has failed. */
const SETUP_STALL_MS = 300_000

export interface RunnerPorts {
  /** Null on a machine without Python: inline types only. */
  readonly executor: Executor | null
  readonly workspaces: Workspaces
  readonly delivery: Delivery
  readonly abilities: Abilities
  readonly gpus: readonly Gpu[]
  readonly python: { readonly path: string; readonly prefix: string } | null
  readonly visiblePaths: readonly string[]
  readonly modelsFolder: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
}

/** All attempts of this worker, from their offer to their end. */
export class Runner {
  readonly #ports: RunnerPorts
  readonly #runs = new Map<string, AttemptRun>()
  readonly #inline = new Map<string, InlineRun>()
  /** Stops that came while the program was still being set up. */
  readonly #early = new Map<string, StopReason>()
  readonly #settingUp = new Set<string>()
  #idle: (() => void)[] = []

  constructor(ports: RunnerPorts) {
    this.#ports = ports
  }

  get count(): number {
    return this.#runs.size + this.#inline.size + this.#settingUp.size
  }

  /** Devices that running programs have. */
  get devicesInUse(): ReadonlySet<string> {
    return new Set([...this.#runs.values()].flatMap(run => run.offer.gpus))
  }

  start(offer: Offer): void {
    if (isInline(offer.spec.type)) this.#startInline(offer)
    else void this.#startProgram(offer)
  }

  stop(fence: Fence, reason: StopReason): void {
    const key = fenceKey(fence)
    this.#inline.get(key)?.stop(reason)
    const run = this.#runs.get(key)
    if (run !== undefined) run.stop(reason, reason.cause === 'stale' ? 0 : undefined)
    else if (this.#settingUp.has(key) && !this.#early.has(key)) this.#early.set(key, reason)
  }

  stopAll(reason: StopReason, graceMs?: number): void {
    for (const run of [...this.#inline.values()]) run.stop(reason)
    for (const key of this.#settingUp) if (!this.#early.has(key)) this.#early.set(key, reason)
    for (const run of this.#runs.values()) run.stop(reason, graceMs)
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
        return usage === null ? [] : [{ fence: run.offer.fence, progress: null, ...usage }]
      }),
    )
    return samples.flat()
  }

  /** After a restart: goes on with what an earlier process of this worker left, and says what it holds. */
  async reattach(told: ReadonlySet<string>): Promise<readonly Holding[]> {
    const { workspaces, executor } = this.#ports
    const executions = new Map((await executor?.reattach())?.map(execution => [execution.key, execution]))
    const holding: Holding[] = []
    for (const { key, offer } of await workspaces.left()) {
      const execution = executions.get(key) ?? (await endedExecution(workspaces.folderOfKey(key), key))
      if (offer !== null && told.has(key)) {
        await executions.get(key)?.release()
        holding.push({ fence: offer.fence, state: 'ended', startedAt: null })
      } else if (offer !== null && execution !== null) {
        this.#follow(offer, execution, null)
        holding.push({ fence: offer.fence, state: 'running', startedAt: execution.startedAtMs })
      } else await workspaces.removeKey(key)
    }
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

  async #startProgram(offer: Offer): Promise<void> {
    const key = fenceKey(offer.fence)
    this.#settingUp.add(key)
    try {
      const execution = await withStall(this.#setUp(offer, key))
      this.#settingUp.delete(key)
      this.#follow(offer, execution, this.#isolationOf(offer))
      const early = this.#early.get(key)
      if (early !== undefined) this.stop(offer.fence, early)
    } catch (error) {
      this.#settingUp.delete(key)
      this.#setUpFailed(offer, error)
    } finally {
      this.#early.delete(key)
      this.#maybeIdle()
    }
  }

  async #setUp(offer: Offer, key: string): Promise<Execution> {
    const { executor, workspaces, abilities, python, gpus, visiblePaths, modelsFolder, env } = this.#ports
    if (executor === null) throw new Declined('this worker has no Python and runs inline types only')
    const choice = chooseIsolation(offer.spec, abilities)
    if (typeof choice === 'string') throw new Declined(choice)
    const secrets = await attemptSecrets(offer, choice.isolation)
    const folder = workspaces.make(offer)
    const argv = await programArgv(offer.spec, join(folder, 'work'), python?.path ?? null)
    const mine = gpus.filter(gpu => offer.gpus.includes(gpu.uuid))
    const prefix = python === null || python.prefix.startsWith('/usr') ? [] : [python.prefix]
    return launch(executor, offer, folder, key, {
      argv,
      env: programEnv(offer, {
        isolation: choice.isolation,
        workerEnv: env,
        python: python?.path ?? null,
        modelsFolder,
        gpus: mine,
        secretEnv: secrets.env,
      }),
      secrets: secrets.launch,
      ...choice,
      devices: mine
        .filter(gpu => !gpu.simulated)
        .flatMap(gpu => [`/dev/nvidia${gpu.index}`, '/dev/nvidiactl', '/dev/nvidia-uvm']),
      visiblePaths: [...visiblePaths, ...prefix, modelsFolder],
    })
  }

  #isolationOf(offer: Offer): 'none' | 'sandbox' {
    const choice = chooseIsolation(offer.spec, this.#ports.abilities)
    return typeof choice === 'string' ? 'none' : choice.isolation
  }

  #follow(offer: Offer, execution: Execution, isolation: 'none' | 'sandbox' | null): void {
    const key = fenceKey(offer.fence)
    const run = new AttemptRun(offer, execution, this.#ports.delivery, isolation)
    this.#runs.set(key, run)
    void run
      .follow()
      .catch(error => this.#setUpFailed(offer, error))
      .finally(() => {
        this.#runs.delete(key)
        this.#maybeIdle()
      })
  }

  #setUpFailed(offer: Offer, error: unknown): void {
    const { delivery, now } = this.#ports
    const reason = error instanceof Error ? error.message : String(error)
    if (error instanceof Declined || (error instanceof SecretsWithheld && !error.final)) {
      delivery.report([{ kind: 'declined', fence: offer.fence, at: now(), reason }])
      return
    }
    delivery.report([
      {
        kind: 'ended',
        fence: offer.fence,
        at: now(),
        outcome: 'failed',
        startedAt: null,
        exitCode: null,
        signal: null,
        error: reason,
        note: null,
        result: null,
        usage: null,
      },
    ])
  }

  #maybeIdle(): void {
    if (this.count > 0) return
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }
}

/** The worker cannot run the offer at all: another worker may. */
class Declined extends Error {}

function withStall<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the set-up made no progress for ${SETUP_STALL_MS / 1000} s`)),
      SETUP_STALL_MS,
    )
    work.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}
