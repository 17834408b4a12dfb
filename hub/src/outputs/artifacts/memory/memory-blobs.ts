import { Readable } from 'node:stream'
import type { BlobKey, Blobs } from '../port.ts'
import { type BlobStorage, blobName, type UnfinishedFile } from '../storage.ts'
import { type BlobPorts, StoredBlobs } from '../stored-blobs.ts'

/** What a disk would keep. Handed to the next blobs, it outlives a restart. */
export interface MemoryContent {
  readonly finished: Map<string, Buffer>
  readonly unfinished: Map<string, { bytes: Buffer; at: number }>
}

export function emptyContent(): MemoryContent {
  return { finished: new Map(), unfinished: new Map() }
}

/** Content for tests: as durable as the maps it is given. */
export function openMemoryBlobs(
  ports: Omit<BlobPorts, 'storage'>,
  content: MemoryContent = emptyContent(),
): Promise<Blobs> {
  return StoredBlobs.open({ ...ports, storage: new MemoryBlobStorage(content, ports.now) })
}

class MemoryBlobStorage implements BlobStorage {
  readonly #content: MemoryContent
  readonly #now: () => number

  constructor(content: MemoryContent, now: () => number) {
    this.#content = content
    this.#now = now
  }

  async unfinishedLength(key: BlobKey): Promise<number> {
    return this.#unfinished(key).length
  }

  async *readUnfinished(key: BlobKey): AsyncGenerator<Uint8Array> {
    yield this.#unfinished(key)
  }

  async openUnfinished(key: BlobKey): Promise<UnfinishedFile> {
    const append = async (chunks: readonly Uint8Array[]) => {
      const bytes = Buffer.concat([this.#unfinished(key), ...chunks])
      this.#content.unfinished.set(blobName(key), { bytes, at: this.#now() })
    }
    await append([])
    return { append, sync: async () => {}, close: async () => {} }
  }

  async discardUnfinished(key: BlobKey): Promise<void> {
    this.#content.unfinished.delete(blobName(key))
  }

  async finish(key: BlobKey): Promise<void> {
    this.#content.finished.set(blobName(key), this.#unfinished(key))
    this.#content.unfinished.delete(blobName(key))
  }

  async finishedSize(key: BlobKey): Promise<number | null> {
    return this.#content.finished.get(blobName(key))?.length ?? null
  }

  async read(key: BlobKey, first: number, last: number): Promise<Readable> {
    const bytes = this.#content.finished.get(blobName(key))
    if (bytes === undefined) throw new Error(`content ${key.sha256} has a row, but no bytes`)
    return Readable.from([bytes.subarray(first, last + 1)])
  }

  async remove(key: BlobKey): Promise<void> {
    this.#content.finished.delete(blobName(key))
  }

  async abandoned(before: number): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
    return [...this.#content.unfinished].flatMap(([name, { bytes, at }]) =>
      at < before ? [{ name, bytes: bytes.length }] : [],
    )
  }

  async removeAbandoned(name: string): Promise<void> {
    this.#content.unfinished.delete(name)
  }

  #unfinished(key: BlobKey): Buffer {
    return this.#content.unfinished.get(blobName(key))?.bytes ?? Buffer.alloc(0)
  }
}
