import { createHash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { BlobKey } from './port.ts'

/** Where bytes of content lie: the part that differs between disk and memory. A failed write or sync makes the unfinished file worthless. */
export interface BlobStorage {
  /** Bytes of the unfinished file, 0 if there is none. */
  unfinishedLength(key: BlobKey): Promise<number>
  readUnfinished(key: BlobKey): AsyncIterable<Uint8Array>
  /** Opens the unfinished file to go on at its end, making it if there is none. */
  openUnfinished(key: BlobKey): Promise<UnfinishedFile>
  discardUnfinished(key: BlobKey): Promise<void>
  /** From here on the content is there under its name; durable when it resolves. */
  finish(key: BlobKey): Promise<void>
  /** Null if it is not there. */
  finishedSize(key: BlobKey): Promise<number | null>
  read(key: BlobKey, first: number, last: number): Promise<Readable>
  remove(key: BlobKey): Promise<void>
  /** Unfinished files last written to before a time, by the names of their content. */
  abandoned(before: number): Promise<readonly { readonly name: string; readonly bytes: number }[]>
  removeAbandoned(name: string): Promise<void>
}

export interface UnfinishedFile {
  /** Rejects with DiskFullOutputs when there is no room. */
  append(chunks: readonly Uint8Array[]): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

/** One word for an owner's content that is also a safe file name: an owner's own name never becomes a path, its hash does. */
export function blobName({ owner, sha256 }: BlobKey): string {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new Error(`content is named by 64 digits, found ${JSON.stringify(sha256)}`)
  return `${ownerNumber(owner)}-${sha256}`
}

export function ownerNumber(owner: string): string {
  return createHash('sha256').update(owner).digest('hex').slice(0, 32)
}
