import type { ChunkRow, Fence } from '@stoker/protocol'
import type { OutputPiece } from './port.ts'

/** 0 is stdout, 1 is stderr, as in the store's rows. */
export type StreamNumber = 0 | 1

/** Contiguous bytes of one stream, to be written as one; `line` counts the newlines of the stream before it, `newlines` those in it. */
export interface StreamRecord {
  readonly fence: Fence
  readonly stream: StreamNumber
  readonly offset: number
  readonly at: number
  readonly line: number
  readonly newlines: number
  readonly bytes: Uint8Array
}

export interface Place {
  readonly segment: number
  readonly position: number
}

/** One write in the queue; exactly one of its two ends is called, in the order of the queue. */
export interface PendingWrite {
  readonly records: readonly StreamRecord[]
  synced(places: readonly Place[]): void
  failed(error: unknown): void
}

/** One stream's part of a sealed block; `at` is the latest time in it. */
export interface BlockSpan {
  readonly stream: StreamNumber
  readonly offset: number
  readonly length: number
  readonly line: number
  readonly at: number
  readonly block: SealedBlock
}

/** Pieces of both streams in order of arrival that are read together. */
export interface SealedBlock {
  readonly pack: number
  readonly position: number
  readonly length: number
}

/** A contiguous part of one stream whose place is known. */
export type Span = ChunkRow | BlockSpan

/** Where bytes lie: the part of streams that differs between disk and memory. */
export interface Storage {
  /** Writes are synced in order; a failure fails all writes behind it too, since they may continue what was lost. */
  enqueue(write: PendingWrite): void
  /** The bytes of each row, checked. Rejects with SegmentGone when a segment was deleted, as its rows were then sealed. */
  readChunks(rows: readonly ChunkRow[]): Promise<readonly Uint8Array[]>
  readBlock(block: SealedBlock): Promise<readonly OutputPiece[]>
  sealedSpans(fence: Fence): Promise<readonly BlockSpan[]>
  close(): Promise<void>
}

/** The rows that led here are outdated: ask the index again. */
export class SegmentGone extends Error {
  constructor(segment: number, cause: unknown) {
    super(`a row refers to segment ${segment}, the file of that segment is gone`, { cause })
    this.name = 'SegmentGone'
  }
}

/** Bytes move at most once between two looks at the index, when they are sealed. */
export async function onceMoreIfMoved<T>(reading: () => Promise<T>): Promise<T> {
  try {
    return await reading()
  } catch (error) {
    if (error instanceof SegmentGone) return reading()
    throw error
  }
}
