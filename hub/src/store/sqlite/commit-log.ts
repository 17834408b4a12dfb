import { closeSync, fdatasyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { hasCode } from '@stoker/files'

/** The file has two halves: while the records of one become rows, the other takes new ones. */
const HALF_BYTES = 2 ** 20

/** header = crc32 u32 · length u32 · number f64; the checksum is over all that follows it. */
const HEADER = 16
const CHECKED_FROM = 4

/** A commit as the log keeps it. Numbers go up by one and are never used again. */
export interface LogRecord {
  readonly number: number
  readonly text: string
}

/** A piece of the file with whole records. */
export interface LogPart {
  readonly from: number
  readonly to: number
}

/**
 * Records of commits that are not rows yet, each on the disk when append returns.
 * The file has its length from the start, so that a record costs one write and one sync of data alone.
 */
export interface CommitLog {
  /** False when the half is full: nothing was written. */
  append(record: LogRecord): boolean
  /** The half written last; from now on records go to the other one, whose own records must be rows by now. */
  turn(): LogPart
  /** All records are rows: the next one goes to the beginning of its half. */
  startOver(): void
  close(): void
}

/** Where the log of a database is. */
export function commitLogBeside(file: string): string {
  return `${file}-commits`
}

export async function createCommitLog(path: string): Promise<CommitLog> {
  const file = await open(path, 'w', 0o600)
  try {
    await file.writeFile(Buffer.alloc(2 * HALF_BYTES))
    await file.sync()
  } finally {
    await file.close()
  }
  const fd = openSync(path, 'r+')
  let buffer = Buffer.allocUnsafeSlow(2 ** 16)
  let from = 0
  let to = 0

  function append({ number, text }: LogRecord): boolean {
    const length = Buffer.byteLength(text)
    const size = HEADER + length
    if (to + size > from + HALF_BYTES) return false
    if (size > buffer.length) buffer = Buffer.allocUnsafeSlow(HALF_BYTES)
    buffer.writeUInt32LE(length, CHECKED_FROM)
    buffer.writeDoubleLE(number, 8)
    buffer.write(text, HEADER)
    buffer.writeUInt32LE(crc32(buffer.subarray(CHECKED_FROM, size)), 0)
    const written = writeSync(fd, buffer, 0, size, to)
    if (written !== size) throw new Error(`${written} of ${size} bytes were written`)
    fdatasyncSync(fd)
    to += size
    return true
  }

  return {
    append,
    turn() {
      const part = { from, to }
      from = HALF_BYTES - from
      to = from
      return part
    },
    startOver: () => {
      to = from
    },
    close: () => closeSync(fd),
  }
}

export function removeCommitLog(path: string): void {
  rmSync(path, { force: true })
}

/** The records of a part, or of both halves in their order. What lies behind them is older or was never acknowledged. */
export function readCommitLog(path: string, part: LogPart | null): readonly LogRecord[] {
  if (part !== null) return recordsIn(path, part)
  const halves = [0, HALF_BYTES].map(from => recordsIn(path, { from, to: from + HALF_BYTES }))
  return halves.sort((a, b) => (a[0]?.number ?? 0) - (b[0]?.number ?? 0)).flat()
}

function recordsIn(path: string, part: LogPart): readonly LogRecord[] {
  const bytes = bytesIn(path, part)
  const records: LogRecord[] = []
  for (let at = 0; at + HEADER <= bytes.length; ) {
    const stop = at + HEADER + bytes.readUInt32LE(at + CHECKED_FROM)
    if (stop > bytes.length || crc32(bytes.subarray(at + CHECKED_FROM, stop)) !== bytes.readUInt32LE(at)) break
    const number = bytes.readDoubleLE(at + 8)
    const last = records.at(-1)
    if (last !== undefined && number !== last.number + 1) break
    records.push({ number, text: bytes.toString('utf8', at + HEADER, stop) })
    at = stop
  }
  return records
}

/** Shorter when the file is; empty when there is none. */
function bytesIn(path: string, { from, to }: LogPart): Buffer {
  try {
    const fd = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(to - from)
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from))
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return Buffer.alloc(0)
    throw error
  }
}
