import { crc32 } from 'node:zlib'
import type { Fence } from '@stoker/protocol'
import { DamagedOutput, type OutputPiece } from '../port.ts'
import type { BlockSpan } from '../storage.ts'

/*
 * pack    = header (16 bytes: magic, version), then entries
 * entry   = gzip blocks, then one index row per block, then a trailer: read from its end, as its place and length are known
 * block   = pieces of both streams in order of arrival: stream u8 · length u32 · offset f64 · at f64 · bytes
 * row     = 10 × f64: position and length in the entry, then per stream: offset, length, newlines before, latest time
 * trailer = magic u32 · crc32 u32 · blocks u32 · epoch u32 · attempt u32 · zero u32 · job f64 · entry length f64
 * The trailer's checksum covers the rows and the rest of the trailer; gzip checks each block itself.
 */
const TRAILER_MAGIC = 0x4b415053
const PIECE_HEADER_BYTES = 21
const ROW_NUMBERS = 10
const ROW_BYTES = ROW_NUMBERS * 8
const CHECKED_FROM = 8
export const TRAILER_BYTES = 40
export const PACK_HEADER = Buffer.from('STOKERPACK\0\0\u0001\0\0\0', 'latin1')

export interface StreamPart {
  readonly offset: number
  readonly length: number
  readonly line: number
  readonly at: number
}

export interface BlockRow {
  readonly position: number
  readonly length: number
  readonly streams: readonly [StreamPart, StreamPart]
}

export interface Trailer {
  readonly fence: Fence
  readonly blocks: number
  readonly entryLength: number
  /** Bytes of rows and trailer together. */
  readonly indexLength: number
}

export function encodeBlock(pieces: readonly OutputPiece[]): Buffer {
  const size = pieces.reduce((sum, piece) => sum + PIECE_HEADER_BYTES + piece.bytes.length, 0)
  const block = Buffer.allocUnsafe(size)
  let at = 0
  for (const piece of pieces) {
    block.writeUInt8(piece.stream === 'stdout' ? 0 : 1, at)
    block.writeUInt32LE(piece.bytes.length, at + 1)
    block.writeDoubleLE(piece.offset, at + 5)
    block.writeDoubleLE(piece.at, at + 13)
    block.set(piece.bytes, at + PIECE_HEADER_BYTES)
    at += PIECE_HEADER_BYTES + piece.bytes.length
  }
  return block
}

export function decodeBlock(block: Buffer): OutputPiece[] {
  const pieces: OutputPiece[] = []
  for (let at = 0; at < block.length; ) {
    const start = at + PIECE_HEADER_BYTES
    const end = start + block.readUInt32LE(at + 1)
    const stream = block.readUInt8(at) === 0 ? 'stdout' : 'stderr'
    const bytes = block.subarray(start, end)
    pieces.push({ stream, offset: block.readDoubleLE(at + 5), at: block.readDoubleLE(at + 13), bytes })
    at = end
  }
  return pieces
}

/** The rows and the trailer of an entry whose blocks have this length. */
export function encodeIndex(fence: Fence, rows: readonly BlockRow[], blocksLength: number): Buffer {
  const index = Buffer.alloc(rows.length * ROW_BYTES + TRAILER_BYTES)
  for (const [i, { position, length, streams }] of rows.entries()) {
    const numbers = [position, length, ...streams.flatMap(part => [part.offset, part.length, part.line, part.at])]
    for (const [n, value] of numbers.entries()) index.writeDoubleLE(value, i * ROW_BYTES + n * 8)
  }
  const trailer = index.subarray(rows.length * ROW_BYTES)
  trailer.writeUInt32LE(TRAILER_MAGIC, 0)
  trailer.writeUInt32LE(rows.length, 8)
  trailer.writeUInt32LE(fence.epoch, 12)
  trailer.writeUInt32LE(fence.attempt, 16)
  trailer.writeDoubleLE(fence.job, 24)
  trailer.writeDoubleLE(blocksLength + index.length, 32)
  trailer.writeUInt32LE(checksum(index), 4)
  return index
}

export function decodeTrailer(trailer: Buffer): Trailer {
  if (trailer.length !== TRAILER_BYTES || trailer.readUInt32LE(0) !== TRAILER_MAGIC) {
    throw new DamagedOutput('a sealed output should end with a trailer, something else is there')
  }
  const blocks = trailer.readUInt32LE(8)
  return {
    fence: { job: trailer.readDoubleLE(24), epoch: trailer.readUInt32LE(12), attempt: trailer.readUInt32LE(16) },
    blocks,
    entryLength: trailer.readDoubleLE(32),
    indexLength: blocks * ROW_BYTES + TRAILER_BYTES,
  }
}

/** The spans of an entry, from its rows and trailer. */
export function decodeIndex(index: Buffer, pack: number, entryPosition: number): BlockSpan[] {
  const written = index.readUInt32LE(index.length - TRAILER_BYTES + 4)
  const sum = checksum(index)
  if (sum !== written) {
    throw new DamagedOutput(`pack ${pack} has an index written with checksum ${written}, its bytes give ${sum}`)
  }
  const spans: BlockSpan[] = []
  for (let at = 0; at < index.length - TRAILER_BYTES; at += ROW_BYTES) {
    const number = (n: number) => index.readDoubleLE(at + n * 8)
    const block = { pack, position: entryPosition + number(0), length: number(1) }
    for (const stream of [0, 1] as const) {
      const first = 2 + stream * 4
      const [offset, length, line] = [number(first), number(first + 1), number(first + 2)]
      if (length > 0) spans.push({ stream, offset, length, line, at: number(first + 3), block })
    }
  }
  return spans
}

function checksum(index: Buffer): number {
  const trailer = index.length - TRAILER_BYTES
  return crc32(index.subarray(trailer + CHECKED_FROM), crc32(index.subarray(0, trailer)))
}
