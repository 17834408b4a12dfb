import { crc32 } from 'node:zlib'
import type { ChunkRow } from '@stoker/protocol'
import { DamagedOutput } from '../port.ts'
import type { StreamRecord } from '../storage.ts'

/*
 * segment = header (16 bytes: magic, version), then records
 * record  = magic u32 · crc32 u32 · length u32 · stream u32 · job f64 · epoch u32 · attempt u32 · offset f64 · at f64 · bytes
 * The checksum covers all that follows it. Numbers are little-endian.
 */
const RECORD_MAGIC = 0x4b4c5453
const CHECKED_FROM = 8
export const RECORD_HEADER_BYTES = 48
export const SEGMENT_HEADER = Buffer.from('STOKERSEG\0\0\0\u0001\0\0\0', 'latin1')

/** Writes one record into the buffer and returns the position behind it. */
export function encodeRecord(record: StreamRecord, into: Buffer, position: number): number {
  const { fence, stream, offset, at, bytes } = record
  const end = position + RECORD_HEADER_BYTES + bytes.length
  into.writeUInt32LE(RECORD_MAGIC, position)
  into.writeUInt32LE(bytes.length, position + 8)
  into.writeUInt32LE(stream, position + 12)
  into.writeDoubleLE(fence.job, position + 16)
  into.writeUInt32LE(fence.epoch, position + 24)
  into.writeUInt32LE(fence.attempt, position + 28)
  into.writeDoubleLE(offset, position + 32)
  into.writeDoubleLE(at, position + 40)
  into.set(bytes, position + RECORD_HEADER_BYTES)
  into.writeUInt32LE(crc32(into.subarray(position + CHECKED_FROM, end)), position + 4)
  return end
}

/** The bytes a row points at, after checking that they are those the row was made for. */
export function decodeRecord(row: ChunkRow, stored: Buffer): Buffer {
  const place = `segment ${row.segment} at byte ${row.position}`
  if (stored.length < RECORD_HEADER_BYTES + row.length) {
    throw new DamagedOutput(`${place} should hold a record of ${row.length} bytes, the file ends before`)
  }
  const claims = `${row.job}-${row.epoch}-${row.attempt} stream ${row.stream} byte ${row.offset} length ${row.length}`
  const holds = stored.readUInt32LE(0) === RECORD_MAGIC ? describe(stored) : 'no record'
  if (claims !== holds) throw new DamagedOutput(`${place} should hold ${claims}, it holds ${holds}`)
  const sum = crc32(stored.subarray(CHECKED_FROM, RECORD_HEADER_BYTES + row.length))
  const written = stored.readUInt32LE(4)
  if (sum !== written) throw new DamagedOutput(`${place} was written with checksum ${written}, its bytes give ${sum}`)
  return stored.subarray(RECORD_HEADER_BYTES, RECORD_HEADER_BYTES + row.length)
}

function describe(header: Buffer): string {
  const fence = `${header.readDoubleLE(16)}-${header.readUInt32LE(24)}-${header.readUInt32LE(28)}`
  return `${fence} stream ${header.readUInt32LE(12)} byte ${header.readDoubleLE(32)} length ${header.readUInt32LE(8)}`
}
