import { type FileHandle, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { type Fence, fenceKey, type SealedRow, sameFence } from '@stoker/protocol'
import { DamagedOutput, type OutputPiece } from '../port.ts'
import type { BlockSpan, SealedBlock } from '../storage.ts'
import { type Layout, packPath } from './layout.ts'
import { decodeBlock, decodeIndex, decodeTrailer, PACK_HEADER, TRAILER_BYTES, type Trailer } from './pack-entry.ts'

const decompress = promisify(gunzip)

/** Where the blocks of a sealed attempt lie. */
export async function readSealedSpans(layout: Layout, row: SealedRow): Promise<BlockSpan[]> {
  return withPack(layout, row.pack, async file => {
    const end = row.position + row.length
    const trailer = await readTrailer(file, end)
    if (!sameFence(trailer.fence, row) || trailer.entryLength !== row.length) {
      const holds = `${trailer.entryLength} bytes of attempt ${fenceKey(trailer.fence)}`
      throw new DamagedOutput(
        `pack ${row.pack} should hold ${row.length} bytes of attempt ${fenceKey(row)}, it holds ${holds}`,
      )
    }
    return decodeIndex(await readAt(file, end - trailer.indexLength, trailer.indexLength), row.pack, row.position)
  })
}

export async function readBlock(layout: Layout, block: SealedBlock): Promise<OutputPiece[]> {
  const stored = await withPack(layout, block.pack, file => readAt(file, block.position, block.length))
  const place = `pack ${block.pack} at byte ${block.position}`
  const bytes = await decompress(stored).catch(error => {
    throw new DamagedOutput(`${place} should hold a block of ${block.length} bytes, they do not decompress`, error)
  })
  return decodeBlock(bytes)
}

/** The attempts of a pack, the last one first. */
export async function* packFences(layout: Layout, pack: number): AsyncGenerator<Fence> {
  const file = await open(packPath(layout, pack), 'r')
  try {
    for (let end = (await file.stat()).size; end > PACK_HEADER.length; ) {
      const { fence, entryLength } = await readTrailer(file, end)
      yield fence
      end -= entryLength
    }
  } finally {
    await file.close()
  }
}

async function readTrailer(file: FileHandle, end: number): Promise<Trailer> {
  return decodeTrailer(await readAt(file, end - TRAILER_BYTES, TRAILER_BYTES))
}

async function withPack<T>(layout: Layout, pack: number, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(packPath(layout, pack), 'r')
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, position)
  if (bytesRead < length)
    throw new DamagedOutput(`${length} bytes should lie at byte ${position}, the file has ${bytesRead}`)
  return buffer
}
