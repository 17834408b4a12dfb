import { createHash, type Hash } from 'node:crypto'
import type { BlobKey } from './port.ts'
import { type BlobStorage, blobName } from './storage.ts'

/** What is known of an unfinished upload: the hash of its bytes so far, and how many of them are written and synced. */
export interface UploadSession {
  hash: Hash
  length: number
  synced: number
}

/** More uploads at once cost a second look at their bytes, nothing else. */
const MAX_SESSIONS = 1000

/** Uploads under way, so that the next piece need not hash the pieces before it; after a restart they are hashed once. */
export class UploadSessions {
  readonly #sessions = new Map<string, UploadSession>()
  readonly #storage: BlobStorage

  constructor(storage: BlobStorage) {
    this.#storage = storage
  }

  /** Only bytes the last sync covered count; those behind it in the file of a killed hub are checked by the hash at the end. */
  async offset(key: BlobKey): Promise<number> {
    return this.#sessions.get(blobName(key))?.synced ?? this.#storage.unfinishedLength(key)
  }

  async resume(key: BlobKey): Promise<UploadSession> {
    const known = this.#sessions.get(blobName(key))
    if (known !== undefined) return known
    const session: UploadSession = { hash: createHash('sha256'), length: 0, synced: 0 }
    if ((await this.#storage.unfinishedLength(key)) > 0) {
      for await (const chunk of this.#storage.readUnfinished(key)) {
        session.hash.update(chunk)
        session.length += chunk.length
      }
    }
    session.synced = session.length
    return session
  }

  keep(key: BlobKey, session: UploadSession): void {
    const name = blobName(key)
    this.#sessions.delete(name)
    this.#sessions.set(name, session)
    const [oldest] = this.#sessions.keys()
    if (this.#sessions.size > MAX_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest)
  }

  forget(name: string): void {
    this.#sessions.delete(name)
  }
}
