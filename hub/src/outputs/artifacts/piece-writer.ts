import type { UploadSession } from './sessions.ts'
import type { UnfinishedFile } from './storage.ts'

/** What one sync keeps others waiting for; a crash costs an upload twice as much at most. */
const SYNC_BYTES = 8 * 1024 * 1024

/** Brings bytes into an unfinished file, in order. While some are written, the next are hashed, and syncs run beside both. */
export class PieceWriter {
  readonly #session: UploadSession
  readonly #file: UnfinishedFile
  readonly #checkRoom: () => Promise<void>
  #written: number
  #writing: Promise<void> = Promise.resolve()
  #syncing: Promise<void> | null = null

  constructor(session: UploadSession, file: UnfinishedFile, checkRoom: () => Promise<void>) {
    this.#session = session
    this.#file = file
    this.#checkRoom = checkRoom
    this.#written = session.length
  }

  /** Resolves when there is room for more; rejects with whatever went wrong before. */
  async take(chunks: readonly Uint8Array[]): Promise<void> {
    await this.#writing
    if (this.#written - this.#session.synced >= 2 * SYNC_BYTES) await this.#syncing
    if (chunks.length === 0) return
    this.#writing = awaitedLater(this.#append(chunks))
    for (const chunk of chunks) this.#session.hash.update(chunk)
  }

  /** All that was taken is in the file and synced. */
  async finish(): Promise<void> {
    await this.#writing
    await this.#syncing
    if (this.#session.synced < this.#written) await this.#sync()
  }

  async #append(chunks: readonly Uint8Array[]): Promise<void> {
    await this.#file.append(chunks)
    this.#written += bytesOf(chunks)
    this.#session.length = this.#written
    if (this.#written - this.#session.synced >= SYNC_BYTES) this.#syncing ??= awaitedLater(this.#syncBeside())
  }

  async #syncBeside(): Promise<void> {
    await this.#sync()
    await this.#checkRoom()
    this.#syncing = null
  }

  async #sync(): Promise<void> {
    const written = this.#written
    await this.#file.sync()
    this.#session.synced = written
  }
}

export function bytesOf(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0)
}

/** A failure is met by whoever waits for it next; until then it is nobody's. */
function awaitedLater(work: Promise<void>): Promise<void> {
  work.catch(() => undefined)
  return work
}
