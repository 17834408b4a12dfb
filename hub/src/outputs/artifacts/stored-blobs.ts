import type { Readable } from 'node:stream'
import { type BlobRow, Refused, type RowWrite } from '@stoker/protocol'
import { Holds } from './holds.ts'
import {
  type BlobIndex,
  type BlobKey,
  type Blobs,
  type Held,
  type Removed,
  type Upload,
  UploadCut,
  type Uploaded,
  WrongOffset,
} from './port.ts'
import { receive } from './receive.ts'
import { type UploadSession, UploadSessions } from './sessions.ts'
import { type BlobStorage, blobName } from './storage.ts'
import { Turns } from './turns.ts'

export interface BlobPorts {
  readonly index: BlobIndex
  readonly storage: BlobStorage
  /** Makes rows durable. */
  readonly commit: (rows: RowWrite[]) => Promise<void>
  readonly now: () => number
  /** Throws Refused when the disk has no room for this many more bytes. */
  readonly checkRoom: (bytes: number) => Promise<void>
}

/** Using content again is written down at most this often: far below any grace. */
const USE_NOTED_MS = 10 * 60_000

/**
 * Content over any storage. The way of an upload:
 * pieces → unfinished file (synced) → whole and of the right hash → named (synced) → its row committed → answered.
 * A crash before the name leaves an unfinished file to go on with, one before the row leaves a file the next upload adopts.
 */
export class StoredBlobs implements Blobs {
  readonly #ports: BlobPorts
  readonly #sessions: UploadSessions
  readonly #turns = new Turns()
  readonly #holds = new Holds()
  readonly #bytes: Map<string, number>

  private constructor(ports: BlobPorts, bytes: Map<string, number>) {
    this.#ports = ports
    this.#bytes = bytes
    this.#sessions = new UploadSessions(ports.storage)
  }

  static async open(ports: BlobPorts): Promise<StoredBlobs> {
    const use = await ports.index.blobUse()
    return new StoredBlobs(ports, new Map(use.map(({ owner, bytes }) => [owner, bytes])))
  }

  async find({ owner, sha256 }: BlobKey): Promise<BlobRow | null> {
    return (await this.#ports.index.blobs(owner, [sha256]))[0] ?? null
  }

  offset(key: BlobKey): Promise<number> {
    return this.#sessions.offset(key)
  }

  async put(upload: Upload): Promise<Uploaded> {
    const known = await this.#reuse(upload)
    return known ?? this.#turns.run(blobName(upload), async () => (await this.#reuse(upload)) ?? this.#take(upload))
  }

  read(key: BlobKey, first: number, last: number): Promise<Readable> {
    return this.#ports.storage.read(key, first, last)
  }

  async hold(owner: string, hashes: readonly string[]): Promise<Held> {
    const release = await this.#holds.take(hashes.map(sha256 => blobName({ owner, sha256 })))
    try {
      const rows = await this.#ports.index.blobs(owner, hashes)
      await this.#use(rows)
      return { found: new Map(rows.map(row => [row.sha256, row])), release }
    } catch (error) {
      release()
      throw error
    }
  }

  bytesOf(owner: string): number {
    return this.#bytes.get(owner) ?? 0
  }

  async remove(
    rows: readonly BlobRow[],
    isUnused: (rows: readonly BlobRow[]) => Promise<readonly BlobRow[]>,
  ): Promise<Removed> {
    let gone: readonly BlobRow[] = []
    await this.#holds.removing(rows.map(blobName), async free => {
      gone = await isUnused(rows.filter(row => free.has(blobName(row))))
      if (gone.length === 0) return
      await this.#ports.commit(
        gone.map(({ owner, sha256 }) => ({ op: 'delete', table: 'blob', key: { owner, sha256 } })),
      )
      for (const row of gone) {
        this.#count(row.owner, -row.size)
        await this.#ports.storage.remove(row)
      }
    })
    return removedOf(gone.map(({ size }) => ({ bytes: size })))
  }

  async abandoned(before: number): Promise<Removed> {
    return removedOf(await this.#ports.storage.abandoned(before))
  }

  async removeAbandoned(before: number): Promise<Removed> {
    const { storage } = this.#ports
    const idle = (await storage.abandoned(before)).filter(({ name }) => !this.#turns.isBusy(name))
    for (const { name } of idle) {
      await this.#turns.run(name, () => {
        this.#sessions.forget(name)
        return storage.removeAbandoned(name)
      })
    }
    return removedOf(idle)
  }

  /** Content that is there needs no bytes; it is as if it had been stored now. */
  async #reuse(upload: Upload): Promise<Uploaded | null> {
    const { found, release } = await this.hold(upload.owner, [upload.sha256])
    release()
    const stored = found.get(upload.sha256)
    if (stored === undefined) return null
    checkSize(upload, stored.size)
    return { stored }
  }

  async #take(upload: Upload): Promise<Uploaded> {
    const { storage } = this.#ports
    const adopted = await storage.finishedSize(upload)
    if (adopted !== null) {
      checkSize(upload, adopted)
      return this.#refer(upload)
    }
    const session = await this.#sessionFor(upload)
    this.#sessions.keep(upload, session)
    try {
      await this.#write(upload, session)
    } catch (error) {
      if (!(error instanceof UploadCut)) await this.#drop(upload)
      throw error
    }
    if (session.length < upload.size) return { offset: session.length }
    const found = session.hash.digest('hex')
    if (found !== upload.sha256) {
      await this.#drop(upload)
      throw new Refused('upload.hash', `the content was named ${upload.sha256}, the bytes that came give ${found}`)
    }
    await storage.finish(upload)
    this.#sessions.forget(blobName(upload))
    return this.#refer(upload)
  }

  async #sessionFor(upload: Upload): Promise<UploadSession> {
    let session = await this.#sessions.resume(upload)
    if (session.length > upload.size) {
      await this.#drop(upload)
      session = await this.#sessions.resume(upload)
    }
    if (session.length !== upload.first) throw new WrongOffset(session.length, upload.first)
    return session
  }

  async #write(upload: Upload, session: UploadSession): Promise<void> {
    const checkRoom = () => this.#ports.checkRoom(upload.size - session.length)
    await checkRoom()
    const file = await this.#ports.storage.openUnfinished(upload)
    try {
      const received = await receive(upload, session, file, checkRoom)
      if (received === upload.length) return
      if (received > upload.length)
        throw new Refused('request.invalid', `a piece of ${upload.length} bytes was announced, more came`)
    } finally {
      await file.close()
    }
    throw new UploadCut(session.length - upload.first, upload.length, null)
  }

  async #refer({ owner, sha256, size }: Upload): Promise<Uploaded> {
    const at = this.#ports.now()
    const stored: BlobRow = { owner, sha256, size, at, usedAt: at }
    await this.#ports.commit([{ op: 'put', table: 'blob', row: stored }])
    this.#count(owner, size)
    return { stored }
  }

  async #use(rows: readonly BlobRow[]): Promise<void> {
    const usedAt = this.#ports.now()
    const old = rows.filter(row => row.usedAt < usedAt - USE_NOTED_MS)
    if (old.length === 0) return
    await this.#ports.commit(
      old.map(({ owner, sha256 }) => ({ op: 'update', table: 'blob', key: { owner, sha256 }, set: { usedAt } })),
    )
  }

  async #drop(key: BlobKey): Promise<void> {
    this.#sessions.forget(blobName(key))
    await this.#ports.storage.discardUnfinished(key)
  }

  #count(owner: string, bytes: number): void {
    const now = this.bytesOf(owner) + bytes
    if (now === 0) this.#bytes.delete(owner)
    else this.#bytes.set(owner, now)
  }
}

function checkSize({ sha256, size }: Upload, stored: number): void {
  if (stored === size) return
  throw new Refused('upload.hash', `the content ${sha256} has ${stored} bytes, it was announced with ${size}`)
}

function removedOf(parts: readonly { readonly bytes: number }[]): Removed {
  return { count: parts.length, bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0) }
}
