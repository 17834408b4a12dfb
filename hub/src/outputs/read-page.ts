import type { ChunkRow } from '@stoker/protocol'
import { type AttemptSpans, endOf } from './attempt-spans.ts'
import type { OutputPage, OutputPiece, StreamName, StreamOffsets } from './port.ts'
import type { SealedBlock, Span, Storage } from './storage.ts'

const NOTHING = new Uint8Array()

export interface PageOptions {
  readonly stream?: StreamName | undefined
  readonly maxBytes: number
}

/** Sealed blocks come before loose chunks, as they were taken earlier; loose chunks arrived in the order of their places. */
export async function readPage(
  storage: Storage,
  spans: AttemptSpans,
  from: StreamOffsets,
  options: PageOptions,
): Promise<OutputPage> {
  const page = new Page(from, options)
  const rows: ChunkRow[] = []
  let room = options.maxBytes
  for (const source of inArrivalOrder(spans, from, options.stream)) {
    if (room <= 0) break
    if (isRow(source)) {
      rows.push(source)
      room -= source.length - Math.max(0, from[nameOf(source)] - source.offset)
    } else {
      for (const piece of await storage.readBlock(source)) page.add(piece)
      room = page.room
    }
  }
  const bytes = await storage.readChunks(rows)
  for (const [i, row] of rows.entries()) page.add(pieceOf(row, bytes[i] ?? NOTHING))
  return { pieces: page.pieces, end: page.hasReached(spans) }
}

/** A row as a reader sees it. */
export function pieceOf(row: ChunkRow, bytes: Uint8Array): OutputPiece {
  return { stream: nameOf(row), offset: row.offset, at: row.at, bytes }
}

export function isRow(span: Span | SealedBlock): span is ChunkRow {
  return 'segment' in span
}

class Page {
  readonly pieces: OutputPiece[] = []
  room: number
  readonly #next: { stdout: number; stderr: number }
  readonly #only: StreamName | undefined

  constructor(from: StreamOffsets, { stream, maxBytes }: PageOptions) {
    this.#next = { ...from }
    this.#only = stream
    this.room = maxBytes
  }

  add({ stream, offset, at, bytes }: OutputPiece): void {
    if (this.#only !== undefined && stream !== this.#only) return
    const skipped = Math.max(0, this.#next[stream] - offset)
    const kept = bytes.subarray(skipped, skipped + this.room)
    if (kept.length === 0) return
    this.pieces.push({ stream, offset: offset + skipped, at, bytes: kept })
    this.#next[stream] = offset + skipped + kept.length
    this.room -= kept.length
  }

  hasReached(spans: AttemptSpans): boolean {
    const out = this.#only === 'stderr' || this.#next.stdout >= endOf(spans[0])
    const err = this.#only === 'stdout' || this.#next.stderr >= endOf(spans[1])
    return out && err
  }
}

/** Lazily, so a page of a long output costs the page. A block holds both streams and comes once. */
function* inArrivalOrder(
  [out, err]: AttemptSpans,
  from: StreamOffsets,
  only: StreamName | undefined,
): Generator<ChunkRow | SealedBlock> {
  let i = only === 'stderr' ? out.length : firstBehind(out, from.stdout)
  let j = only === 'stdout' ? err.length : firstBehind(err, from.stderr)
  for (;;) {
    const a = out[i]
    const b = err[j]
    const order = a === undefined ? 1 : b === undefined ? -1 : compareArrival(a, b)
    const next = order <= 0 ? a : b
    if (next === undefined) return
    yield isRow(next) ? next : next.block
    if (order <= 0) i++
    if (order >= 0) j++
  }
}

function compareArrival(a: Span, b: Span): number {
  if (isRow(a)) return isRow(b) ? a.segment - b.segment || a.position - b.position : 1
  return isRow(b) ? -1 : a.block.position - b.block.position
}

/** The index of the first span that ends behind the offset. */
function firstBehind(spans: readonly Span[], offset: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const span = spans[middle]
    if (span !== undefined && span.offset + span.length <= offset) low = middle + 1
    else high = middle
  }
  return low
}

function nameOf(row: ChunkRow): StreamName {
  return row.stream === 0 ? 'stdout' : 'stderr'
}
