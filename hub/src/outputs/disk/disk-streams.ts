import type { ChunkRow, Fence, RowWrite } from '@stoker/protocol'
import type { OutputIndex, OutputPiece, Streams } from '../port.ts'
import type { BlockSpan, PendingWrite, SealedBlock, Storage } from '../storage.ts'
import { StoredStreams } from '../streams.ts'
import { type CreateFile, createFile } from './append-file.ts'
import { type Layout, prepareLayout } from './layout.ts'
import { readBlock, readSealedSpans } from './pack-reader.ts'
import { removeOldPacks } from './remove-old-packs.ts'
import { readChunks } from './segment-reader.ts'
import { SegmentWriter } from './segment-writer.ts'
import { removeIfOrphan, sweepSegments } from './sweep-segments.ts'

const SEGMENT_BYTES = 64 * 1024 * 1024
/** Long enough to fill a segment on a busy hub, short enough that a quiet one compresses within the day. */
const SEGMENT_AGE_MS = 60 * 60 * 1000

export interface DiskStreamsOptions {
  readonly folder: string
  readonly queries: OutputIndex
  /** Makes the rows of a seal durable. */
  readonly commit: (rows: RowWrite[]) => Promise<void>
  readonly now: () => number
  readonly segmentBytes?: number | undefined
  readonly create?: CreateFile | undefined
}

/** Every start begins a fresh segment: bytes behind the last indexed one of an old segment were never acknowledged. */
export async function openDiskStreams(options: DiskStreamsOptions): Promise<Streams> {
  const { folder, queries, commit, now, segmentBytes = SEGMENT_BYTES, create = createFile } = options
  const { layout, segments, packs } = await prepareLayout(folder)
  const newest = packs.at(-1) ?? 0
  // A crash between a pack and the commit of its rows leaves a pack nothing refers to: only the newest can be one.
  if (newest > 0) await removeIfOrphan(layout, newest, queries)
  const firstSegment = (segments.at(-1) ?? 0) + 1
  const writer = await SegmentWriter.open({ layout, firstSegment, segmentBytes, create, now })
  for (const segment of segments) writer.closed.add(segment)
  const storage = new DiskStorage(layout, queries, writer)
  let pack = newest
  const nextPack = () => ++pack
  const doubtful = new Set<number>()
  const sweep = { layout, index: queries, storage, create, commit, closed: writer.closed, nextPack, doubtful }
  return new StoredStreams(
    queries,
    storage,
    async view => {
      await writer.rollIfOlder(SEGMENT_AGE_MS)
      await sweepSegments(sweep, view)
    },
    () => removeOldPacks(layout, queries),
  )
}

class DiskStorage implements Storage {
  readonly #layout: Layout
  readonly #queries: OutputIndex
  readonly #writer: SegmentWriter

  constructor(layout: Layout, queries: OutputIndex, writer: SegmentWriter) {
    this.#layout = layout
    this.#queries = queries
    this.#writer = writer
  }

  enqueue(write: PendingWrite): void {
    this.#writer.enqueue(write)
  }

  readChunks(rows: readonly ChunkRow[]): Promise<readonly Uint8Array[]> {
    return readChunks(this.#layout, rows)
  }

  readBlock(block: SealedBlock): Promise<readonly OutputPiece[]> {
    return readBlock(this.#layout, block)
  }

  async sealedSpans(fence: Fence): Promise<readonly BlockSpan[]> {
    const row = await this.#queries.sealed(fence.job, fence.epoch, fence.attempt)
    return row === null ? [] : readSealedSpans(this.#layout, row)
  }

  close(): Promise<void> {
    return this.#writer.close()
  }
}
