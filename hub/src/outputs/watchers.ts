import { type Fence, fenceKey } from '@stoker/protocol'
import type { OutputListener, OutputPiece } from './port.ts'

/** As much as a worker may have unacknowledged: one full window of a single program fits. */
const BUFFER_BYTES = 1024 * 1024

/** Who looks at which attempt now. */
export class Watchers {
  readonly #byAttempt = new Map<string, Set<Watcher>>()
  readonly #bufferBytes: number

  constructor(bufferBytes = BUFFER_BYTES) {
    this.#bufferBytes = bufferBytes
  }

  add(fence: Fence, listener: OutputListener): () => void {
    const key = fenceKey(fence)
    const watcher = new Watcher(listener, this.#bufferBytes)
    const set = this.#byAttempt.get(key) ?? new Set()
    this.#byAttempt.set(key, set.add(watcher))
    return () => {
      watcher.stop()
      set.delete(watcher)
      if (set.size === 0 && this.#byAttempt.get(key) === set) this.#byAttempt.delete(key)
    }
  }

  show(fence: Fence, piece: OutputPiece): void {
    if (this.#byAttempt.size === 0) return
    for (const watcher of this.#byAttempt.get(fenceKey(fence)) ?? []) watcher.push(piece)
  }
}

/*
 * idle ──push──► draining ──buffer empty──► idle
 * draining ──buffer full──► the buffer is replaced by one `lagged`, further pieces are dropped ──`lagged` taken──► draining
 */
class Watcher {
  #buffer: (OutputPiece | 'lagged')[] = []
  #buffered = 0
  #lagged = false
  #draining = false
  #stopped = false
  readonly #listener: OutputListener
  readonly #maxBytes: number

  constructor(listener: OutputListener, maxBytes: number) {
    this.#listener = listener
    this.#maxBytes = maxBytes
  }

  push(piece: OutputPiece): void {
    if (this.#lagged || this.#stopped) return
    this.#buffered += piece.bytes.length
    if (this.#buffered > this.#maxBytes) {
      this.#lagged = true
      this.#buffer = ['lagged']
    } else this.#buffer.push(piece)
    if (!this.#draining) void this.#drain()
  }

  stop(): void {
    this.#stopped = true
    this.#buffer = []
  }

  /** A listener that throws ends the process as an unhandled rejection: it is a bug, and no append may suffer from it. */
  async #drain(): Promise<void> {
    this.#draining = true
    await null
    for (let batch = this.#take(); batch.length > 0; batch = this.#take()) {
      for (const item of batch) if (!this.#stopped) await this.#listener(item)
    }
    this.#draining = false
  }

  #take(): (OutputPiece | 'lagged')[] {
    const batch = this.#buffer
    this.#buffer = []
    this.#buffered = 0
    this.#lagged = false
    return batch
  }
}
