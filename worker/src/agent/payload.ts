import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Chunk, Fence } from '@stoker/protocol'

/** Reads the bytes of a batch's chunks from the attempts' output files, in order. */
export async function payloadOf(chunks: readonly Chunk[], folderOf: (fence: Fence) => string): Promise<Uint8Array[]> {
  return Promise.all(
    chunks.map(chunk => readRange(join(folderOf(chunk.fence), chunk.stream), chunk.offset, chunk.length)),
  )
}

async function readRange(path: string, offset: number, length: number): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const bytes = Buffer.allocUnsafe(length)
    let read = 0
    while (read < length) {
      const { bytesRead } = await file.read(bytes, read, length - read, offset + read)
      if (bytesRead === 0) throw new Error(`${path} has ${offset + read} bytes, a batch speaks of ${offset + length}`)
      read += bytesRead
    }
    return bytes
  } finally {
    await file.close()
  }
}
