import { join } from 'node:path'
import type { BlobKey } from '../port.ts'
import { blobName, ownerNumber } from '../storage.ts'

/** `<owner's number>/<first two digits>/<sha256>` for what is whole, `unfinished/<name>` for what is not. */
export interface BlobLayout {
  readonly folder: string
  readonly unfinished: string
}

export function blobLayout(folder: string): BlobLayout {
  return { folder, unfinished: join(folder, 'unfinished') }
}

export function blobFolder({ folder }: BlobLayout, { owner, sha256 }: BlobKey): string {
  return join(folder, ownerNumber(owner), sha256.slice(0, 2))
}

export function blobPath(layout: BlobLayout, key: BlobKey): string {
  return join(blobFolder(layout, key), blobName(key).slice(-64))
}

export function unfinishedPath({ unfinished }: BlobLayout, key: BlobKey): string {
  return join(unfinished, blobName(key))
}
