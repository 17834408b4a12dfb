import type { GpuSample, HostSample, Live, LiveAttempt, LiveUse, Progress } from '@stoker/protocol'

const KEPT_SAMPLES = 60

export interface BoardSample {
  readonly at: number
  readonly host: HostSample | null
  readonly gpus: readonly GpuSample[]
  readonly spoolBytes: number | null
}

export interface LiveAttemptView {
  readonly attempt: number
  readonly progress: Progress | null
  /** As last measured. */
  readonly using: LiveUse | null
}

/** What is worth seeing now and not worth keeping: last progress of running jobs, a short history of each worker's load. Gone with the process. */
export class LiveBoard {
  readonly #samples = new Map<string, BoardSample[]>()
  readonly #jobs = new Map<number, LiveAttemptView>()
  readonly #listeners = new Set<(job: number, view: LiveAttemptView) => void>()

  put(worker: string, live: Live): void {
    if (live.host !== null || live.gpus.length > 0) {
      const samples = this.#samples.get(worker) ?? []
      samples.push({ at: live.at, host: live.host, gpus: live.gpus, spoolBytes: live.spoolBytes ?? null })
      if (samples.length > KEPT_SAMPLES) samples.shift()
      this.#samples.set(worker, samples)
    }
    for (const attempt of live.attempts) {
      const { fence, progress } = attempt
      const known = this.#jobs.get(fence.job)
      const before = known?.attempt === fence.attempt ? known : null
      const view = {
        attempt: fence.attempt,
        progress: progress ?? before?.progress ?? null,
        using: useOf(attempt) ?? before?.using ?? null,
      }
      this.#jobs.set(fence.job, view)
      for (const listener of this.#listeners) listener(fence.job, view)
    }
  }

  samplesOf(worker: string): readonly BoardSample[] {
    return this.#samples.get(worker) ?? []
  }

  job(seq: number): LiveAttemptView | null {
    return this.#jobs.get(seq) ?? null
  }

  forgetJob(seq: number): void {
    this.#jobs.delete(seq)
  }

  forgetWorker(id: string): void {
    this.#samples.delete(id)
  }

  onProgress(listener: (job: number, view: LiveAttemptView) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}

/** A message that tells progress only says nothing of use. */
function useOf({ cpus, memoryBytes, pids }: LiveAttempt): LiveUse | null {
  return cpus === null || memoryBytes === null ? null : { cpus, memoryBytes, pids: pids ?? null }
}
