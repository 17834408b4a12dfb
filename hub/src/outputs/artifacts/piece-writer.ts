import type { UploadSession } from './sessions.ts'
import type { UnfinishedFile } from './storage.ts'

/** Enough for one write to be worth its call. */
const WRITE_BYTES = 512 * 1024
/** What one sync keeps others waiting for; a crash costs an upload twice as much at most. */
const SYNC_BYTES = 8 * 1024 * 1024

/** Brings bytes into an unfinished file, in order. While some are written, the next are hashed and gathered, and syncs run beside both. */
export class PieceWriter {
  readonly #session: UploadSession
  readonly #file: UnfinishedFile
  readonly #checkRoom: () => Promise<void>
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
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
  async take(chunk: Uint8Array): Promise<void> {
    this.#waiting.push(chunk)
    this.#waitingBytes += chunk.length
    if (this.#waitingBytes >= WRITE_BYTES) await this.#write()
  }

  /** All that was taken is in the file and synced. */
  async finish(): Promise<void> {
    if (this.#waitingBytes > 0) await this.#write()
    await this.#writing
    await this.#syncing
    if (this.#session.synced < this.#written) await this.#sync()
  }

  async #write(): Promise<void> {
    await this.#writing
    if (this.#written - this.#session.synced >= 2 * SYNC_BYTES) await this.#syncing
    const chunks = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    this.#writing = awaitedLater(this.#append(chunks))
    for (const chunk of chunks) this.#session.hash.update(chunk)
  }

  async #append(chunks: readonly Uint8Array[]): Promise<void> {
    await this.#file.append(chunks)
    for (const chunk of chunks) this.#written += chunk.length
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

/** A failure is met by whoever waits for it next; until then it is nobody's. */
function awaitedLater(work: Promise<void>): Promise<void> {
  work.catch(() => undefined)
  return work
}
