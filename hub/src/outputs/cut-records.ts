import { fenceKey } from '@stoker/protocol'
import type { AttemptState, StreamEnd } from './attempt-state.ts'
import { countNewlines } from './newlines.ts'
import { type OutputChunk, StreamGap } from './port.ts'
import type { StreamNumber, StreamRecord } from './storage.ts'

/** Bounds what one read or one check of a record must hold in memory. */
const MAX_RECORD_BYTES = 1024 * 1024
/** Small neighbours share a record up to this size: a chatty program makes few index rows. */
const MERGE_BYTES = 64 * 1024
/** A merged record has the latest time of its parts, so seeking by time is never late and at most this early. */
const MERGE_MS = 100

/** What of an append is new, and where the touched streams end after it. */
export interface Cut {
  readonly records: readonly StreamRecord[]
  readonly touched: readonly TouchedStream[]
}

interface TouchedStream {
  readonly state: AttemptState
  readonly stream: StreamNumber
  readonly end: StreamEnd
}

interface OpenStream {
  readonly state: AttemptState
  readonly stream: StreamNumber
  readonly parts: OutputChunk[]
  offset: number
  end: number
  line: number
  size: number
  at: number
}

/** Changes nothing, so a gap anywhere leaves no trace. */
export function cutRecords(chunks: readonly OutputChunk[], stateOf: (key: string) => AttemptState): Cut {
  const streams = new Map<string, OpenStream>()
  const records: StreamRecord[] = []
  let last: OpenStream | undefined
  for (const chunk of chunks) {
    const open = openStream(streams, chunk, stateOf)
    if (chunk.offset > open.end) throw new StreamGap(chunk, open.end)
    const fresh = chunk.bytes.subarray(open.end - chunk.offset)
    if (fresh.length === 0) continue
    if (last !== undefined && (last !== open || !fits(open, fresh, chunk.at))) flush(last, records)
    hold(open, fresh, chunk)
    last = open
  }
  if (last !== undefined) flush(last, records)
  const touched = Array.from(streams.values(), ({ state, stream, end, line }) => ({
    state,
    stream,
    end: { end, line },
  }))
  return { records, touched }
}

function openStream(
  streams: Map<string, OpenStream>,
  chunk: OutputChunk,
  stateOf: (key: string) => AttemptState,
): OpenStream {
  const attempt = fenceKey(chunk.fence)
  const key = `${attempt}/${chunk.stream}`
  const known = streams.get(key)
  if (known !== undefined) return known
  const state = stateOf(attempt)
  const stream = chunk.stream === 'stdout' ? 0 : 1
  const { end, line } = state.acceptedEnd(stream)
  const opened: OpenStream = { state, stream, parts: [], offset: end, end, line, size: 0, at: 0 }
  streams.set(key, opened)
  return opened
}

function fits(open: OpenStream, fresh: Uint8Array, at: number): boolean {
  return open.size + fresh.length <= MERGE_BYTES && Math.abs(at - open.at) <= MERGE_MS
}

function hold(open: OpenStream, fresh: Uint8Array, chunk: OutputChunk): void {
  open.at = open.parts.length === 0 ? chunk.at : Math.max(open.at, chunk.at)
  open.parts.push({ ...chunk, bytes: fresh })
  open.size += fresh.length
  open.end += fresh.length
}

function flush(open: OpenStream, records: StreamRecord[]): void {
  const [first] = open.parts
  if (first === undefined) return
  const whole = open.parts.length === 1 ? first.bytes : Buffer.concat(open.parts.map(part => part.bytes))
  for (let from = 0; from < whole.length; from += MAX_RECORD_BYTES) {
    const bytes = whole.subarray(from, from + MAX_RECORD_BYTES)
    const newlines = countNewlines(bytes)
    const { stream, offset, at, line } = open
    records.push({ fence: first.fence, stream, offset, at, line, newlines, bytes })
    open.offset += bytes.length
    open.line += newlines
  }
  open.parts.length = 0
  open.size = 0
}
