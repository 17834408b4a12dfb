import { endOf } from './attempt-spans.ts'
import { behindNewline, countNewlines, endsWithNewline } from './newlines.ts'
import { DamagedOutput, type OutputPiece } from './port.ts'
import { isRow, pieceOf } from './read-page.ts'
import type { Span, Storage } from './storage.ts'

/** Where the last lines of one stream begin; reads two spans at most, however long the stream. */
export async function tailOffset(storage: Storage, spans: readonly Span[], lines: number): Promise<number> {
  const last = spans.at(-1)
  if (last === undefined || lines <= 0) return endOf(spans)
  const tail = await spanBytes(storage, last)
  const open = endsWithNewline(tail) ? 0 : 1
  const newline = last.line + countNewlines(tail) + open - lines
  if (newline <= 0) return 0
  const holder = spans[lastBefore(spans, newline)]
  if (holder === undefined) return 0
  const bytes = holder === last ? tail : await spanBytes(storage, holder)
  const behind = behindNewline(bytes, newline - holder.line)
  if (behind === -1) {
    throw new DamagedOutput(`newline ${newline} should lie in the span at byte ${holder.offset}, the span has fewer`)
  }
  return holder.offset + behind
}

/** Times may jump back with a worker's clock, so the first match counts, not the nearest. */
export async function timeOffset(storage: Storage, spans: readonly Span[], at: number): Promise<number> {
  const span = spans.find(candidate => candidate.at >= at)
  if (span === undefined) return endOf(spans)
  const piece = (await spanPieces(storage, span)).find(candidate => candidate.at >= at)
  return piece?.offset ?? span.offset
}

/** The bytes of one stream in a span. */
export async function spanBytes(storage: Storage, span: Span): Promise<Uint8Array> {
  const pieces = await spanPieces(storage, span)
  const [first] = pieces
  return pieces.length === 1 && first !== undefined ? first.bytes : Buffer.concat(pieces.map(piece => piece.bytes))
}

async function spanPieces(storage: Storage, span: Span): Promise<readonly OutputPiece[]> {
  if (isRow(span)) return (await storage.readChunks([span])).map(bytes => pieceOf(span, bytes))
  const name = span.stream === 0 ? 'stdout' : 'stderr'
  return (await storage.readBlock(span.block)).filter(piece => piece.stream === name)
}

/** The last span with fewer newlines before it than asked for: the newline is in it, as the next one has enough. */
function lastBefore(spans: readonly Span[], newline: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((spans[middle]?.line ?? newline) < newline) low = middle + 1
    else high = middle
  }
  return low - 1
}
