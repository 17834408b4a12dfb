import { type Fence, fenceKey, type Live, type LiveAttempt, type Progress } from '@stoker/protocol'
import type { Runner } from '../../run/runner.ts'
import type { Sources } from '../sources.ts'

/** Progress is shown soon, but a program that reports a thousand times a second costs no more than this. */
const PROGRESS_MS = 250

export interface LiveSources extends Sources {
  readonly now: () => number
  readonly spoolBytes: () => number
  /** The owner's wish; null: as the hub says. */
  readonly everyMs: number | null
}

/** Sends what is worth seeing now: load every few seconds, progress soon after it changes. Nothing of it is kept or resent, except the last progress after a reconnect. */
export class LiveReporter {
  readonly #sources: LiveSources
  readonly #runner: Runner
  readonly #send: (live: Live) => void
  readonly #changed = new Map<string, { readonly fence: Fence; readonly progress: Progress }>()
  #metrics: NodeJS.Timeout | null = null
  #soon: NodeJS.Timeout | null = null

  constructor(sources: LiveSources, runner: Runner, send: (live: Live) => void) {
    this.#sources = sources
    this.#runner = runner
    this.#send = send
  }

  start(liveMs: number): void {
    this.pause()
    this.#metrics = setInterval(() => void this.#sample(), this.#sources.everyMs ?? liveMs)
    void this.#sample()
  }

  progress(fence: Fence, progress: Progress): void {
    this.#changed.set(fenceKey(fence), { fence, progress })
    this.#soon ??= setTimeout(() => {
      this.#soon = null
      this.#flush()
    }, PROGRESS_MS)
  }

  /** Said at once: tasks may wait for it. It is said again with every sample. */
  ready(fence: Fence): void {
    const attempt: LiveAttempt = { fence, progress: null, cpus: null, memoryBytes: null, ready: true }
    this.#send({ t: 'live', at: this.#sources.now(), host: null, gpus: [], attempts: [attempt] })
  }

  pause(): void {
    if (this.#metrics !== null) clearInterval(this.#metrics)
    this.#metrics = null
  }

  stop(): void {
    this.pause()
    if (this.#soon !== null) clearTimeout(this.#soon)
    this.#soon = null
  }

  #flush(): void {
    const attempts = [...this.#changed.values()].map(
      (changed): LiveAttempt => ({ ...changed, cpus: null, memoryBytes: null }),
    )
    this.#changed.clear()
    if (attempts.length > 0) this.#send({ t: 'live', at: this.#sources.now(), host: null, gpus: [], attempts })
  }

  async #sample(): Promise<void> {
    const gpus = [...this.#sources.gpus()]
    const attempts = await this.#runner.sample(gpus)
    const devices = [...this.#sources.devices()]
    this.#send({
      t: 'live',
      at: this.#sources.now(),
      host: this.#sources.host(),
      gpus,
      attempts,
      devices,
      spoolBytes: this.#sources.spoolBytes(),
    })
  }
}
