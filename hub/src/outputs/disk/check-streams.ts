import { stat } from 'node:fs/promises'
import { type ChunkRow, type Fence, fenceKey, type SealedRow } from '@stoker/protocol'
import { DamagedOutput } from '../port.ts'
import type { BlockSpan } from '../storage.ts'
import { isAbsent } from './append-file.ts'
import { type Layout, layoutOf, packPath, segmentPath } from './layout.ts'
import { readBlock, readSealedSpans } from './pack-reader.ts'
import { RECORD_HEADER_BYTES } from './record.ts'
import { readChunks } from './segment-reader.ts'

export interface StreamProblem {
  readonly fence: Fence
  readonly kind: 'damaged' | 'gap' | 'overlap' | 'beyond-file'
  readonly text: string
}

/** Rows of whole attempts; a large store is checked in slices, each with all rows of its attempts. */
export interface CheckedRows {
  readonly chunks: readonly ChunkRow[]
  readonly sealed: readonly SealedRow[]
}

/** Reads every byte the rows promise and lists what is not as promised. Rows below a sealed end are leftovers of a seal and need no bytes. */
export async function checkStreams(folder: string, rows: CheckedRows): Promise<readonly StreamProblem[]> {
  const layout = layoutOf(folder)
  const problems: StreamProblem[] = []
  const ends = new Map<string, number>()
  for (const row of rows.sealed) await checkSealed(layout, row, ends, problems)
  const sealedEnds = new Map(ends)
  for (const row of [...rows.chunks].sort((a, b) => a.offset - b.offset)) {
    const key = streamKey(row, row.stream)
    const rowEnd = row.offset + row.length
    if (rowEnd <= (sealedEnds.get(key) ?? 0)) continue
    const end = ends.get(key) ?? 0
    checkJoint(row, end, problems)
    ends.set(key, Math.max(end, rowEnd))
    await checkChunk(layout, row, problems)
  }
  return problems
}

function checkJoint(
  part: Fence & { readonly stream: number; readonly offset: number },
  end: number,
  problems: StreamProblem[],
): void {
  if (part.offset === end) return
  const kind = part.offset > end ? 'gap' : 'overlap'
  const text = `${part.stream === 0 ? 'stdout' : 'stderr'} is known up to byte ${end}, the next row begins at byte ${part.offset}`
  problems.push({ fence: fenceOf(part), kind, text })
}

async function checkChunk(layout: Layout, row: ChunkRow, problems: StreamProblem[]): Promise<void> {
  const path = segmentPath(layout, row.segment)
  const end = row.position + RECORD_HEADER_BYTES + row.length
  if (await isWithin(path, `segment ${row.segment}`, end, row, problems)) {
    await noteDamage(row, problems, () => readChunks(layout, [row]))
  }
}

async function checkSealed(
  layout: Layout,
  row: SealedRow,
  ends: Map<string, number>,
  problems: StreamProblem[],
): Promise<void> {
  const end = row.position + row.length
  if (!(await isWithin(packPath(layout, row.pack), `pack ${row.pack}`, end, row, problems))) return
  await noteDamage(row, problems, async () => {
    for (const span of await readSealedSpans(layout, row)) {
      const key = streamKey(row, span.stream)
      checkJoint({ ...fenceOf(row), stream: span.stream, offset: span.offset }, ends.get(key) ?? 0, problems)
      ends.set(key, span.offset + span.length)
      await checkBlock(layout, row, span, problems)
    }
  })
}

async function checkBlock(layout: Layout, fence: Fence, span: BlockSpan, problems: StreamProblem[]): Promise<void> {
  await noteDamage(fence, problems, async () => {
    const name = span.stream === 0 ? 'stdout' : 'stderr'
    const pieces = (await readBlock(layout, span.block)).filter(piece => piece.stream === name)
    const length = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0)
    if (length === span.length) return
    throw new DamagedOutput(`a block should hold ${span.length} bytes of ${name}, it holds ${length}`)
  })
}

async function isWithin(
  path: string,
  name: string,
  end: number,
  fence: Fence,
  problems: StreamProblem[],
): Promise<boolean> {
  const size = await stat(path).then(
    found => found.size,
    error => {
      if (isAbsent(error)) return 0
      throw error
    },
  )
  if (size >= end) return true
  problems.push({
    fence: fenceOf(fence),
    kind: 'beyond-file',
    text: `a row ends at byte ${end} of ${name}, the file has ${size}`,
  })
  return false
}

async function noteDamage(fence: Fence, problems: StreamProblem[], check: () => Promise<unknown>): Promise<void> {
  try {
    await check()
  } catch (error) {
    if (!(error instanceof DamagedOutput)) throw error
    problems.push({ fence: fenceOf(fence), kind: 'damaged', text: error.message })
  }
}

function fenceOf({ job, epoch, attempt }: Fence): Fence {
  return { job, epoch, attempt }
}

function streamKey(fence: Fence, stream: number): string {
  return `${fenceKey(fence)}/${stream}`
}
