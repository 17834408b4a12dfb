import type { Readable } from 'node:stream'
import { type BlobRow, Refused } from '@stoker/protocol'

/** Content is an owner's: what another owner has cannot be seen, not even that it is there. */
export interface BlobKey {
  readonly owner: string
  readonly sha256: string
}

/** A piece of content on its way in, the whole being a piece too. */
export interface Upload extends BlobKey {
  /** Of the whole content. */
  readonly size: number
  /** Where the piece begins, and its length. */
  readonly first: number
  readonly length: number
  /** In lists of chunks; each is written at once. */
  readonly body: AsyncIterable<readonly Uint8Array[]>
}

/** All of it is here, or the next piece begins at `offset`. */
export type Uploaded = { readonly stored: BlobRow } | { readonly offset: number }

/** The store's answers about content, a part of its queries. */
export interface BlobIndex {
  blobs(owner: string, hashes: readonly string[]): Promise<readonly BlobRow[]>
  blobUse(): Promise<readonly { readonly owner: string; readonly bytes: number }[]>
}

/** Content of all owners, named by its SHA-256. A row is written after the bytes are whole, checked and synced, never before. */
export interface Blobs {
  /** Null unless all of it is here. */
  find(key: BlobKey): Promise<BlobRow | null>
  /** How many bytes of an unfinished upload are safe: the next piece begins there. */
  offset(key: BlobKey): Promise<number>
  /** Pieces of one content are taken one at a time; a body that breaks off leaves what came of it. */
  put(upload: Upload): Promise<Uploaded>
  /** The bytes from `first` to `last`, both included. */
  read(key: BlobKey, first: number, last: number): Promise<Readable>
  /** Until it is let go, content that is there stays; answers which of it is there. */
  hold(owner: string, hashes: readonly string[]): Promise<Held>
  /** What the owner's whole content takes. */
  bytesOf(owner: string): number
  /** Forgets content nobody holds and `isUnused` still finds unused; answers what went. */
  remove(
    rows: readonly BlobRow[],
    isUnused: (rows: readonly BlobRow[]) => Promise<readonly BlobRow[]>,
  ): Promise<Removed>
  /** Unfinished uploads nothing was added to since. */
  abandoned(before: number): Promise<Removed>
  removeAbandoned(before: number): Promise<Removed>
}

export interface Held {
  readonly found: ReadonlyMap<string, BlobRow>
  release(): void
}

export interface Removed {
  readonly count: number
  readonly bytes: number
}

/** The piece does not begin where what is stored ends. */
export class WrongOffset extends Refused {
  readonly stored: number

  constructor(stored: number, first: number) {
    super('upload.offset', `${stored} bytes of it are stored, the piece begins at byte ${first}`)
    this.stored = stored
  }
}

/** The sender stopped in the middle; what came is kept. */
export class UploadCut extends Error {
  constructor(received: number, length: number, cause: unknown) {
    super(`${received} of ${length} bytes came, then the connection broke off`, { cause })
    this.name = 'UploadCut'
  }
}
