import type { Batch } from '../engine/core.ts'
import type { LiveBoard } from '../engine/live-board.ts'
import type { EngineLoop } from '../engine/loop.ts'

export interface JobListener {
  readonly changed: () => void
  readonly progressed: () => void
}

interface WatchPorts {
  readonly engine: Pick<EngineLoop, 'onCommit'>
  readonly board: Pick<LiveBoard, 'onProgress'>
}

/** Tells followers of a job that it changed or progressed; listens to the hub only while someone follows. */
export class JobWatch {
  readonly #byJob = new Map<number, Set<JobListener>>()
  readonly #ports: WatchPorts
  #stop: (() => void) | null = null

  constructor(ports: WatchPorts) {
    this.#ports = ports
  }

  get size(): number {
    let size = 0
    for (const listeners of this.#byJob.values()) size += listeners.size
    return size
  }

  add(seq: number, listener: JobListener): () => void {
    const listeners = this.#byJob.get(seq) ?? new Set()
    this.#byJob.set(seq, listeners.add(listener))
    this.#stop ??= this.#listen()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0 && this.#byJob.get(seq) === listeners) this.#byJob.delete(seq)
      if (this.#byJob.size > 0) return
      this.#stop?.()
      this.#stop = null
    }
  }

  #listen(): () => void {
    const stopChanges = this.#ports.engine.onCommit(batch => this.#hear(batch))
    const stopProgress = this.#ports.board.onProgress(seq => {
      for (const { progressed } of this.#byJob.get(seq) ?? []) progressed()
    })
    return () => {
      stopChanges()
      stopProgress()
    }
  }

  #hear({ changes }: Batch): void {
    for (const change of changes) {
      if (!('job' in change)) continue
      for (const { changed } of this.#byJob.get(change.job) ?? []) changed()
    }
  }
}
