import { formatSize, Refused } from '@stoker/protocol'
import type { BlobKey, Blobs } from './port.ts'

/** Refuses content that would bring its owner above a limit, null being none; content the owner has already takes no more room. */
export async function refuseTooMuch(blobs: Blobs, key: BlobKey, size: number, most: number | null): Promise<void> {
  if (most === null) return
  const has = blobs.bytesOf(key.owner)
  if (has + size <= most || (await blobs.find(key)) !== null) return
  const [stored, sent, limit] = [has, size, most].map(formatSize)
  throw new Refused('owner.storage', `${key.owner} stores ${stored} and sends ${sent}; the limit is ${limit}`)
}
