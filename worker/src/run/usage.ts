import type { GpuSample, Usage } from '@stoker/protocol'
import type { Execution, Exit } from '../executors/port.ts'

interface Average {
  sum: number
  count: number
  peak: number
}

/** Gathers what one attempt uses while it runs; a program too short to be sampled is measured by its exit record. */
export class UsageMeter {
  readonly #gpus: readonly string[]
  readonly #memory = start()
  readonly #gpu = start()
  #peakCpus = 0
  #peakGpuMemoryMb: number | null = null
  #last: { readonly at: number; readonly cpuSeconds: number } | null = null

  constructor(gpus: readonly string[]) {
    this.#gpus = gpus
  }

  async sample(
    execution: Execution,
    gpus: readonly GpuSample[],
    now: number,
  ): Promise<{ cpus: number; memoryBytes: number; pids?: number } | null> {
    const usage = await execution.usage()
    if (usage === null) return null
    const since = this.#last ?? { at: execution.startedAtMs, cpuSeconds: 0 }
    const cpus = now > since.at ? Math.max(0, (usage.cpuSeconds - since.cpuSeconds) / ((now - since.at) / 1000)) : 0
    this.#last = { at: now, cpuSeconds: usage.cpuSeconds }
    this.#peakCpus = Math.max(this.#peakCpus, cpus)
    add(this.#memory, usage.rssBytes)
    for (const gpu of gpus.filter(sample => this.#gpus.includes(sample.uuid))) this.#addGpu(gpu)
    return { cpus, memoryBytes: usage.rssBytes, ...(usage.pids === undefined ? {} : { pids: usage.pids }) }
  }

  total(exit: Exit): Usage {
    const seconds = Math.max(0.001, (exit.endedAtMs - exit.startedAtMs) / 1000)
    const cpuSeconds = Math.max(exit.cpuSeconds, this.#last?.cpuSeconds ?? 0)
    const averageCpus = cpuSeconds / seconds
    return {
      cpuSeconds,
      averageCpus,
      peakCpus: Math.max(averageCpus, this.#peakCpus),
      averageMemoryBytes: mean(this.#memory) ?? exit.maxRssBytes,
      peakMemoryBytes: Math.max(this.#memory.peak, exit.maxRssBytes),
      averageGpuPercent: mean(this.#gpu),
      peakGpuPercent: this.#gpu.count === 0 ? null : this.#gpu.peak,
      peakGpuMemoryMb: this.#peakGpuMemoryMb,
    }
  }

  #addGpu({ utilization, memoryUsedMb }: GpuSample): void {
    if (utilization !== null) add(this.#gpu, utilization)
    if (memoryUsedMb !== null) this.#peakGpuMemoryMb = Math.max(this.#peakGpuMemoryMb ?? 0, memoryUsedMb)
  }
}

function start(): Average {
  return { sum: 0, count: 0, peak: 0 }
}

function add(average: Average, value: number): void {
  average.sum += value
  average.count += 1
  average.peak = Math.max(average.peak, value)
}

function mean({ sum, count }: Average): number | null {
  return count === 0 ? null : sum / count
}
