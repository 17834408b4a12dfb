import { type FileHandle, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { syncFolder } from '@stoker/files'
import { isAbsent, isFull } from '../../disk/append-file.ts'
import { DiskFullOutputs } from '../../port.ts'
import { bytesOf } from '../piece-writer.ts'
import type { BlobKey, Blobs } from '../port.ts'
import type { BlobStorage, UnfinishedFile } from '../storage.ts'
import { type BlobPorts, StoredBlobs } from '../stored-blobs.ts'
import { type BlobLayout, blobFolder, blobLayout, blobPath, unfinishedPath } from './blob-layout.ts'

const READ_BYTES = 256 * 1024

/** Content in files: unfinished ones apart, finished ones under their hash, per owner. */
export async function openDiskBlobs(folder: string, ports: Omit<BlobPorts, 'storage'>): Promise<Blobs> {
  const layout = blobLayout(folder)
  await mkdir(layout.unfinished, { recursive: true, mode: 0o700 })
  await syncFolder(folder)
  await syncFolder(dirname(folder))
  return StoredBlobs.open({ ...ports, storage: new DiskBlobStorage(layout) })
}

class DiskBlobStorage implements BlobStorage {
  readonly #layout: BlobLayout

  constructor(layout: BlobLayout) {
    this.#layout = layout
  }

  async unfinishedLength(key: BlobKey): Promise<number> {
    return (await sizeOf(unfinishedPath(this.#layout, key))) ?? 0
  }

  async *readUnfinished(key: BlobKey): AsyncGenerator<Uint8Array> {
    const file = await open(unfinishedPath(this.#layout, key), 'r')
    yield* file.createReadStream({ highWaterMark: READ_BYTES })
  }

  async openUnfinished(key: BlobKey): Promise<UnfinishedFile> {
    const path = unfinishedPath(this.#layout, key)
    const file = await open(path, 'a', 0o600).catch(asDiskFull)
    await syncFolder(this.#layout.unfinished)
    return {
      append: chunks => appendAll(file, chunks).catch(asDiskFull),
      sync: () => file.datasync().catch(asDiskFull),
      close: () => file.close(),
    }
  }

  async discardUnfinished(key: BlobKey): Promise<void> {
    await rm(unfinishedPath(this.#layout, key), { force: true })
  }

  async finish(key: BlobKey): Promise<void> {
    const folder = blobFolder(this.#layout, key)
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    if (made !== undefined) await syncFolder(dirname(made)).then(() => syncFolder(dirname(folder)))
    await rename(unfinishedPath(this.#layout, key), blobPath(this.#layout, key))
    await syncFolder(folder)
  }

  finishedSize(key: BlobKey): Promise<number | null> {
    return sizeOf(blobPath(this.#layout, key))
  }

  async read(key: BlobKey, first: number, last: number): Promise<Readable> {
    const file = await open(blobPath(this.#layout, key), 'r')
    return file.createReadStream({ start: first, end: last, highWaterMark: READ_BYTES })
  }

  async remove(key: BlobKey): Promise<void> {
    await rm(blobPath(this.#layout, key), { force: true })
  }

  async abandoned(before: number): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
    const found = []
    for (const name of await readdir(this.#layout.unfinished)) {
      const file = await stat(join(this.#layout.unfinished, name)).catch(nullIfAbsent)
      if (file !== null && file.mtimeMs < before) found.push({ name, bytes: file.size })
    }
    return found
  }

  async removeAbandoned(name: string): Promise<void> {
    await rm(join(this.#layout.unfinished, name), { force: true })
  }
}

async function sizeOf(path: string): Promise<number | null> {
  return (await stat(path).catch(nullIfAbsent))?.size ?? null
}

async function appendAll(file: FileHandle, chunks: readonly Uint8Array[]): Promise<void> {
  const bytes = bytesOf(chunks)
  const { bytesWritten } = await file.writev(chunks as Uint8Array[])
  if (bytesWritten === bytes) return
  const rest = Buffer.concat(chunks).subarray(bytesWritten)
  for (let done = 0; done < rest.length; ) done += (await file.write(rest, done)).bytesWritten
}

function nullIfAbsent(error: unknown): null {
  if (isAbsent(error)) return null
  throw error
}

function asDiskFull(error: unknown): never {
  throw isFull(error) ? new DiskFullOutputs(error) : error
}
