import { type FileHandle, open } from 'node:fs/promises'
import type { ChunkRow } from '@stoker/protocol'
import { SegmentGone } from '../storage.ts'
import { isAbsent } from './append-file.ts'
import { type Layout, segmentPath } from './layout.ts'
import { decodeRecord, RECORD_HEADER_BYTES } from './record.ts'

/** Reading a small gap costs less than another call. */
const GAP_BYTES = 16 * 1024
const RUN_BYTES = 1024 * 1024

/** Neighbours in a segment are read together; every record is checked. */
export async function readChunks(layout: Layout, rows: readonly ChunkRow[]): Promise<readonly Buffer[]> {
  const found: Buffer[] = []
  for (let from = 0; from < rows.length; ) {
    const segment = rows[from]?.segment ?? 0
    const next = rows.findIndex((row, i) => i > from && row.segment !== segment)
    const to = next === -1 ? rows.length : next
    const file = await openSegment(layout, segment)
    try {
      for (const run of runsOf(rows.slice(from, to))) found.push(...(await readRun(file, run)))
    } finally {
      await file.close()
    }
    from = to
  }
  return found
}

async function openSegment(layout: Layout, segment: number): Promise<FileHandle> {
  return open(segmentPath(layout, segment), 'r').catch(error => {
    throw isAbsent(error) ? new SegmentGone(segment, error) : error
  })
}

function runsOf(rows: readonly ChunkRow[]): ChunkRow[][] {
  const runs: ChunkRow[][] = []
  let run: ChunkRow[] = []
  for (const row of rows) {
    const first = run[0]
    const last = run.at(-1)
    const joins =
      first !== undefined &&
      last !== undefined &&
      row.position >= endOf(last) &&
      row.position <= endOf(last) + GAP_BYTES &&
      endOf(row) - first.position <= RUN_BYTES
    if (joins) run.push(row)
    else {
      run = [row]
      runs.push(run)
    }
  }
  return runs
}

async function readRun(file: FileHandle, run: readonly ChunkRow[]): Promise<Buffer[]> {
  const start = run[0]?.position ?? 0
  const length = run.reduce((end, row) => Math.max(end, endOf(row)), start) - start
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, start)
  const stored = buffer.subarray(0, bytesRead)
  return run.map(row => decodeRecord(row, stored.subarray(row.position - start)))
}

function endOf(row: ChunkRow): number {
  return row.position + RECORD_HEADER_BYTES + row.length
}
