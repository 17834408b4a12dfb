import type { ChunkRow } from '@stoker/protocol'
import type { OutputIndex, Streams } from '../port.ts'
import { type PendingWrite, type Place, SegmentGone, type Storage } from '../storage.ts'
import { StoredStreams } from '../streams.ts'

/** What a disk would keep: bytes by segment and position. Handed to the next streams, it outlives a restart. */
export type MemorySegments = Map<number, Uint8Array[]>

/** The streams for tests and the simulator: as durable as the segments they are given. Never seals, so it grows with all output. */
export function openMemoryStreams(options: {
  readonly queries: OutputIndex
  readonly segments?: MemorySegments | undefined
}): Streams {
  const storage = new MemoryStorage(options.segments ?? new Map())
  return new StoredStreams(
    options.queries,
    storage,
    () => Promise.resolve(),
    () => Promise.resolve(),
  )
}

class MemoryStorage implements Storage {
  readonly #segments: MemorySegments
  readonly #segment: number
  readonly #current: Uint8Array[] = []
  #closed = false

  constructor(segments: MemorySegments) {
    this.#segments = segments
    this.#segment = segments.size + 1
    segments.set(this.#segment, this.#current)
  }

  enqueue(write: PendingWrite): void {
    queueMicrotask(() => {
      if (this.#closed) write.failed(new Error('the streams are closed, a write came after that'))
      else write.synced(write.records.map(record => this.#keep(record.bytes)))
    })
  }

  async readChunks(rows: readonly ChunkRow[]): Promise<readonly Uint8Array[]> {
    return rows.map(row => {
      const bytes = this.#segments.get(row.segment)?.[row.position]
      if (bytes === undefined) throw new SegmentGone(row.segment, undefined)
      return bytes
    })
  }

  async readBlock(): Promise<never> {
    throw new Error('memory seals nothing, a sealed block was asked for')
  }

  async sealedSpans(): Promise<readonly []> {
    return []
  }

  async close(): Promise<void> {
    this.#closed = true
  }

  #keep(bytes: Uint8Array): Place {
    this.#current.push(bytes.slice())
    return { segment: this.#segment, position: this.#current.length - 1 }
  }
}
