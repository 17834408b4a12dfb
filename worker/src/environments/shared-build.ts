import type { Progress } from '@stoker/protocol'
import type { BuildWatch } from './environment-store.ts'

/** One installation that several attempts wait for. It goes on while one of them does, and each hears all of it. */
export class SharedBuild {
  /** Resolves when it is over, well or not. */
  readonly ended: Promise<void>
  readonly #work: Promise<void>
  readonly #stop = new AbortController()
  readonly #watches = new Set<BuildWatch>()
  #output: { readonly file: string; readonly bytes: number } | null = null
  #progress: Progress | null = null

  constructor(work: (watch: BuildWatch) => Promise<void>) {
    // Begun in a turn of its own: whoever makes it is in the list by then.
    this.#work = Promise.resolve().then(() =>
      work({
        signal: this.#stop.signal,
        onOutput: (file, bytes) => {
          this.#output = { file, bytes }
          for (const watch of this.#watches) watch.onOutput(file, bytes)
        },
        onProgress: progress => {
          this.#progress = progress
          for (const watch of this.#watches) watch.onProgress(progress)
        },
      }),
    )
    this.ended = this.#work.then(
      () => {},
      () => {},
    )
  }

  /** Resolves when it is made; rejects as it fails, or when this one gives up, which ends it if nobody else waits. */
  async join(watch: BuildWatch): Promise<void> {
    this.#watches.add(watch)
    if (this.#output !== null) watch.onOutput(this.#output.file, this.#output.bytes)
    if (this.#progress !== null) watch.onProgress(this.#progress)
    let leave = () => {}
    const left = new Promise<void>(resolve => {
      leave = resolve
      watch.signal.addEventListener('abort', leave, { once: true })
    })
    try {
      await Promise.race([this.#work, left])
    } finally {
      watch.signal.removeEventListener('abort', leave)
      this.#watches.delete(watch)
      if (this.#watches.size === 0) this.#stop.abort()
    }
    if (this.isStopped) await this.ended
    watch.signal.throwIfAborted()
  }

  /** Nobody waits for it any more. */
  get isStopped(): boolean {
    return this.#stop.signal.aborted
  }
}
