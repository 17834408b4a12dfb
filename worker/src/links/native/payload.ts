import { join } from 'node:path'
import type { Chunk, Fence } from '@stoker/protocol'
import { readRange } from '../../run/read-range.ts'

/** Reads the bytes of a batch's chunks from the attempts' output files, in order. */
export async function payloadOf(chunks: readonly Chunk[], folderOf: (fence: Fence) => string): Promise<Uint8Array[]> {
  return Promise.all(chunks.map(chunk => readWhole(join(folderOf(chunk.fence), chunk.stream), chunk)))
}

async function readWhole(path: string, { offset, length }: Chunk): Promise<Uint8Array> {
  const bytes = await readRange(path, offset, length)
  if (bytes.length === length) return bytes
  throw new Error(`${path} has ${offset + bytes.length} bytes, a batch speaks of ${offset + length}`)
}
