import { statfs } from 'node:fs/promises'

/** What an ordinary user may still write: blocks reserved for root do not count as free. */
export async function freeBytes(folder: string): Promise<{ readonly freeBytes: number; readonly totalBytes: number }> {
  const disk = await statfs(folder)
  return { freeBytes: disk.bavail * disk.bsize, totalBytes: disk.blocks * disk.bsize }
}
