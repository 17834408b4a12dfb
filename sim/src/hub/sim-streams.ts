import { type Chunk, type ChunkRow, type Fence, fenceKey, type RowWrite } from '@stoker/protocol'
import type { MemoryTables } from '../../../hub/src/store/memory/tables.ts'

/** What the hub's disk keeps of outputs: synced pieces by segment and position. */
export type Segments = Map<number, (Uint8Array | undefined)[]>

export interface SimStreamsPorts {
  readonly tables: MemoryTables
  readonly segments: Segments
  readonly now: () => number
  readonly after: (ms: number, run: () => void) => void
  readonly syncMs: () => number
  readonly isDiskFull: () => boolean
  /** A planted bug: answers before the bytes are synced. */
  readonly answersFirst: boolean
}

interface StreamState {
  accepted: number
  uncommitted: ChunkRow[]
}

/** The hub's output streams under virtual time: bytes are accepted, synced a little later, and only then answered for. */
export class SimStreams {
  readonly #ports: SimStreamsPorts
  readonly #attempts = new Map<string, readonly [StreamState, StreamState]>()
  readonly #segment: number
  readonly #pieces: (Uint8Array | undefined)[] = []
  #reserved = 0
  #syncedAt = 0

  constructor(ports: SimStreamsPorts) {
    this.#ports = ports
    this.#segment = ports.segments.size + 1
    ports.segments.set(this.#segment, this.#pieces)
  }

  /** Calls back with the rows to commit, or with why nothing was taken. */
  append(
    chunks: readonly Chunk[],
    payload: Uint8Array,
    done: (rows: readonly RowWrite[]) => void,
    failed: (why: string) => void,
  ): void {
    if (this.#ports.isDiskFull()) {
      failed('the disk is full: the output was not written')
      return
    }
    const gap = chunks.find(chunk => chunk.offset > this.#expected(chunk, chunks))
    if (gap !== undefined) {
      failed(`${gap.stream} of ${fenceKey(gap.fence)} begins at ${gap.offset}, which leaves a gap`)
      return
    }
    const written: { readonly row: ChunkRow; readonly bytes: Uint8Array }[] = []
    let at = 0
    for (const chunk of chunks) {
      const piece = this.#accept(chunk, payload.subarray(at, at + chunk.length))
      if (piece !== null) written.push(piece)
      at += chunk.length
    }
    const sync = () => {
      for (const { row, bytes } of written) this.#pieces[row.position] = bytes
    }
    const answer = () => {
      for (const { row } of written) this.#streamOf(row, row.stream).uncommitted.push(row)
      done(this.#uncommitted(chunks))
    }
    if (this.#ports.answersFirst) {
      answer()
      this.#ports.after(this.#ports.syncMs() + 20, sync)
    } else
      this.#ports.after(this.#untilSynced(), () => {
        sync()
        answer()
      })
  }

  /** Writes are synced in the order in which they came, so a repeat is answered after what it repeats. */
  #untilSynced(): number {
    const now = this.#ports.now()
    this.#syncedAt = Math.max(this.#syncedAt, now + this.#ports.syncMs())
    return this.#syncedAt - now
  }

  committed(rows: readonly RowWrite[]): void {
    for (const write of rows) {
      if (write.table !== 'chunk' || write.op !== 'put') continue
      const stream = this.#streamOf(write.row, write.row.stream)
      stream.uncommitted = stream.uncommitted.filter(row => row.offset > write.row.offset)
    }
  }

  ended(fence: Fence): void {
    const key = fenceKey(fence)
    const streams = this.#attempts.get(key)
    if (streams?.every(stream => stream.uncommitted.length === 0) === true) this.#attempts.delete(key)
  }

  /** Where a chunk may begin at most, after the chunks before it in the same append. */
  #expected(chunk: Chunk, chunks: readonly Chunk[]): number {
    let end = this.#streamOf(chunk.fence, numberOf(chunk)).accepted
    for (const before of chunks) {
      if (before === chunk) return end
      if (fenceKey(before.fence) === fenceKey(chunk.fence) && before.stream === chunk.stream && before.offset <= end)
        end = Math.max(end, before.offset + before.length)
    }
    return end
  }

  #accept(chunk: Chunk, bytes: Uint8Array): { row: ChunkRow; bytes: Uint8Array } | null {
    const stream = numberOf(chunk)
    const state = this.#streamOf(chunk.fence, stream)
    const known = state.accepted - chunk.offset
    if (known >= bytes.length) return null
    const fresh = bytes.subarray(known)
    const offset = state.accepted
    state.accepted += fresh.length
    const { job, epoch, attempt } = chunk.fence
    const place = { segment: this.#segment, position: this.#reserved }
    this.#reserved += 1
    return {
      row: { job, epoch, attempt, stream, offset, length: fresh.length, ...place, at: chunk.at, line: 0 },
      bytes: fresh,
    }
  }

  #uncommitted(chunks: readonly Chunk[]): readonly RowWrite[] {
    const rows = new Set(chunks.flatMap(chunk => this.#streamOf(chunk.fence, numberOf(chunk)).uncommitted))
    return Array.from(rows, row => ({ op: 'put', table: 'chunk', row }))
  }

  #streamOf(fence: Fence, stream: number): StreamState {
    const key = fenceKey(fence)
    const known = this.#attempts.get(key) ?? this.#load(fence)
    this.#attempts.set(key, known)
    return known[stream === 0 ? 0 : 1]
  }

  #load({ job, epoch, attempt }: Fence): readonly [StreamState, StreamState] {
    const rows = this.#ports.tables.queries.chunks(job, epoch, attempt)
    const endOf = (stream: number) =>
      rows.reduce((end, row) => (row.stream === stream ? Math.max(end, row.offset + row.length) : end), 0)
    return [
      { accepted: endOf(0), uncommitted: [] },
      { accepted: endOf(1), uncommitted: [] },
    ]
  }
}

function numberOf({ stream }: Chunk): 0 | 1 {
  return stream === 'stdout' ? 0 : 1
}
