import type { ChunkRow, Fence, RowWrite } from '@stoker/protocol'
import type { Place, StreamNumber, StreamRecord } from './storage.ts'

/** The end of a stream and the newlines before it. */
export interface StreamEnd {
  readonly end: number
  readonly line: number
}
export type StreamEnds = readonly [StreamEnd, StreamEnd]

interface StreamState {
  /** Taken from workers and shown live. */
  accepted: StreamEnd
  /** In a segment for good. */
  synced: StreamEnd
  /** Rows of synced bytes no commit has covered yet, in order of offset. */
  uncommitted: ChunkRow[]
}

/**
 * What is known of one attempt's streams, in three steps: accepted → synced → committed.
 * A failed write returns `accepted` to `synced`; a failed commit leaves rows uncommitted, to be handed out again.
 */
export class AttemptState {
  readonly fence: Fence
  readonly #streams: readonly [StreamState, StreamState]
  #writes = 0
  ended = false
  /** Used since the last sweep. */
  recent = true

  constructor(fence: Fence, ends: StreamEnds) {
    this.fence = fence
    this.#streams = [startAt(ends[0]), startAt(ends[1])]
  }

  acceptedEnd(stream: StreamNumber): StreamEnd {
    return this.#streams[stream].accepted
  }

  uncommitted(stream: StreamNumber): readonly ChunkRow[] {
    return this.#streams[stream].uncommitted
  }

  /** Everything accepted is also committed: the store knows as much as this object. */
  isClean(): boolean {
    return this.#writes === 0 && this.#streams.every(stream => stream.uncommitted.length === 0)
  }

  isWriting(): boolean {
    return this.#writes > 0
  }

  refersTo(segment: number): boolean {
    return this.#streams.some(stream => stream.uncommitted.some(row => row.segment === segment))
  }

  beginWrite(): void {
    this.#writes++
    this.recent = true
  }

  accept(stream: StreamNumber, end: StreamEnd): void {
    this.#streams[stream].accepted = end
  }

  synced(record: StreamRecord, place: Place): void {
    const stream = this.#streams[record.stream]
    stream.synced = { end: record.offset + record.bytes.length, line: record.line + record.newlines }
    stream.uncommitted.push(rowOf(record, place))
  }

  endWrite(): void {
    this.#writes--
  }

  /** The queue fails as a whole, so whatever is not synced is gone. */
  failWrite(): void {
    this.#writes--
    for (const stream of this.#streams) stream.accepted = stream.synced
  }

  /** Rows are handed out with all before them, so a committed row covers those too. */
  committed(row: ChunkRow): void {
    const stream = this.#streams[row.stream === 0 ? 0 : 1]
    const open = stream.uncommitted.findIndex(other => other.offset > row.offset)
    stream.uncommitted = open === -1 ? [] : stream.uncommitted.slice(open)
  }
}

/** Puts, not inserts: the same row may be handed out twice. */
export function putChunk(row: ChunkRow): RowWrite {
  return { op: 'put', table: 'chunk', row }
}

function startAt(end: StreamEnd): StreamState {
  return { accepted: end, synced: end, uncommitted: [] }
}

function rowOf({ fence, stream, offset, at, line, bytes }: StreamRecord, { segment, position }: Place): ChunkRow {
  const { job, epoch, attempt } = fence
  return { job, epoch, attempt, stream, offset, length: bytes.length, segment, position, at, line }
}
