import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { GpuSample } from '@stoker/protocol'
import { killGroup } from './child-group.ts'
import { cellsOf, isGpuUuid, NVIDIA_SMI, numberIn } from './nvidia-csv.ts'

/*
 * starting ──first sample──► sampling ──exit, or silent and killed──► waiting ──restartDelayMs──► starting
 * any ──stop()──► stopped
 * There is never a second child: one that survives SIGKILL inside the driver is waited for, not replaced.
 */

/** Delays come from outside: the attempt counts runs without a sample, from 0. */
export interface GpuSamplerOptions {
  readonly intervalMs: number
  readonly restartDelayMs: (attempt: number) => number
  readonly silentAfterMs?: number | undefined
  readonly onSample?: ((sample: GpuSample) => void) | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** How long `stop` waits for a child that a signal cannot reach; the worker may end without it. */
const STOP_MS = 5_000
const FIELDS = 'uuid,utilization.gpu,memory.used,memory.total,temperature.gpu,power.draw,power.limit'

/** One nvidia-smi for the worker's whole life, since starting one costs up to a second of CPU; it ends with its reader's pipe. */
export class GpuSampler {
  readonly #options: GpuSamplerOptions
  readonly #silentAfterMs: number
  readonly #samples = new Map<string, { readonly sample: GpuSample; readonly at: number }>()
  #child: ChildProcess | undefined
  #timer: NodeJS.Timeout | undefined
  #attempt = 0
  #isStopped = false

  constructor(options: GpuSamplerOptions) {
    this.#options = options
    this.#silentAfterMs = options.silentAfterMs ?? 10_000 + 3 * options.intervalMs
    this.#start()
  }

  /** Only what is fresh: a GPU that fell silent has no sample rather than an old one. */
  latest(): GpuSample[] {
    const oldest = performance.now() - this.#silentAfterMs
    return [...this.#samples.values()].filter(({ at }) => at >= oldest).map(({ sample }) => sample)
  }

  /** The child is gone when this resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true
    clearTimeout(this.#timer)
    this.#samples.clear()
    const child = this.#child
    if (child === undefined) return
    killGroup(child)
    await endOf(child, STOP_MS)
  }

  #start(): void {
    const { intervalMs, env } = this.#options
    const args = [`--query-gpu=${FIELDS}`, '--format=csv,noheader,nounits', '-lms', String(intervalMs)]
    const child = spawn(NVIDIA_SMI, args, { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    this.#child = child
    this.#watch(child)
    if (child.stdout) createInterface({ input: child.stdout }).on('line', line => this.#take(child, line))
    child.once('error', () => this.#ended(child))
    child.once('exit', () => this.#ended(child))
  }

  #take(child: ChildProcess, line: string): void {
    const sample = parseSample(line)
    if (sample === null || child !== this.#child || this.#isStopped) return
    this.#attempt = 0
    this.#samples.set(sample.uuid, { sample, at: performance.now() })
    this.#watch(child)
    this.#options.onSample?.(sample)
  }

  #watch(child: ChildProcess): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => killGroup(child), this.#silentAfterMs)
  }

  #ended(child: ChildProcess): void {
    if (this.#child !== child) return
    this.#child = undefined
    child.stdout?.destroy()
    clearTimeout(this.#timer)
    if (this.#isStopped) return
    this.#timer = setTimeout(() => this.#start(), this.#options.restartDelayMs(this.#attempt++))
  }
}

function parseSample(line: string): GpuSample | null {
  const [uuid, utilization, memoryUsed, , temperature, power, powerLimit] = cellsOf(line)
  if (!isGpuUuid(uuid)) return null
  return {
    uuid,
    utilization: numberIn(utilization),
    memoryUsedMb: numberIn(memoryUsed),
    temperatureC: numberIn(temperature),
    powerW: numberIn(power),
    powerLimitW: numberIn(powerLimit),
  }
}

function endOf(child: ChildProcess, limitMs: number): Promise<void> {
  return new Promise(resolve => {
    const done = () => {
      clearTimeout(timer)
      child.unref()
      resolve()
    }
    const timer = setTimeout(done, limitMs)
    child.once('exit', done).once('error', done)
  })
}
