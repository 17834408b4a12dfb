import type { ChunkRow, Fence, RowWrite, SealedRow } from '@stoker/protocol'

export type StreamName = 'stdout' | 'stderr'

/** A byte offset in each stream of one attempt. */
export interface StreamOffsets {
  readonly stdout: number
  readonly stderr: number
}

/** A piece of output as its worker sent it; the bytes must not change afterwards, they are written without a copy. */
export interface OutputChunk {
  readonly fence: Fence
  readonly stream: StreamName
  readonly offset: number
  readonly at: number
  readonly bytes: Uint8Array
}

/** A piece of output as a reader sees it. */
export interface OutputPiece {
  readonly stream: StreamName
  readonly offset: number
  readonly at: number
  readonly bytes: Uint8Array
}

export interface OutputPage {
  readonly pieces: readonly OutputPiece[]
  /** Nothing more is stored now. */
  readonly end: boolean
}

/** A listener that returns a promise is busy until it settles; what comes meanwhile waits in its bounded buffer. */
export type OutputListener = (piece: OutputPiece | 'lagged') => void | Promise<void>

/** The store's answers about output, a part of its queries. */
export interface OutputIndex {
  /** Whether anything is known of an attempt's output; cheap, as it is asked for every attempt's first bytes. */
  hasOutput(job: number, epoch: number, attempt: number): Promise<boolean>
  chunks(job: number, epoch: number, attempt: number): Promise<readonly ChunkRow[]>
  sealed(job: number, epoch: number, attempt: number): Promise<SealedRow | null>
  segmentAttempts(
    segment: number,
  ): Promise<
    readonly { readonly job: number; readonly epoch: number; readonly attempt: number; readonly ended: boolean }[]
  >
}

/** The output streams of all attempts. A read returns whatever was shown live before it was asked, so a follower watches first, then reads to the end, then drops live bytes it already has. */
export interface Streams {
  /**
   * Shows new bytes to watchers at once and resolves when they are synced, with the index rows the caller must commit:
   * those of the touched streams that no commit has covered yet, so a resend after a failed commit yields them again.
   * Bytes already known are skipped or cut; all or nothing: a gap in one chunk rejects with StreamGap before any is taken.
   */
  append(chunks: readonly OutputChunk[]): Promise<readonly RowWrite[]>
  /** To be told after the caller's commit of these rows succeeded. */
  committed(rows: readonly RowWrite[]): void
  /** Pieces in order of arrival across streams, from the given offsets on. */
  read(
    fence: Fence,
    from: StreamOffsets,
    options: { readonly stream?: StreamName | undefined; readonly maxBytes: number },
  ): Promise<OutputPage>
  /** Where the last lines of each stream begin; a tail without newline is a line; a stream not asked for stands at its end. */
  seekTail(fence: Fence, lines: number, stream?: StreamName | undefined): Promise<StreamOffsets>
  /** Where each stream's first piece at or after a time begins, or its end. */
  seekTime(fence: Fence, at: number): Promise<StreamOffsets>
  sizes(fence: Fence): Promise<StreamOffsets>
  /** Live bytes of one attempt; a watcher too slow for its buffer is told `lagged` once and must read what it missed. Returns the way to stop. */
  watch(fence: Fence, listener: OutputListener): () => void
  /** The attempt is over and may leave memory; late bytes are still taken. */
  ended(fence: Fence): void
  /** Seals what has ended and deletes what is empty; a sweep asked for during a sweep is that same sweep. */
  sweep(): Promise<void>
  /** Runs a commit that deletes index rows of ended attempts while nothing is sealed, then frees what only they used. */
  forget(commit: () => Promise<void>): Promise<void>
  close(): Promise<void>
}

/** Bytes between what is known and what came are missing: the worker must send them first. */
export class StreamGap extends Error {
  readonly fence: Fence
  readonly stream: StreamName
  readonly known: number
  readonly offset: number

  constructor(chunk: OutputChunk, known: number) {
    const { job, epoch, attempt } = chunk.fence
    super(
      `${chunk.stream} of attempt ${job}-${epoch}-${attempt} is known up to byte ${known}, the chunk begins at byte ${chunk.offset}`,
    )
    this.name = 'StreamGap'
    this.fence = chunk.fence
    this.stream = chunk.stream
    this.known = known
    this.offset = chunk.offset
  }
}

/** The disk has no room: none of the bytes were taken, and the same append may succeed later. */
export class DiskFullOutputs extends Error {
  constructor(cause: unknown) {
    super('the disk is full: the output was not written', { cause })
    this.name = 'DiskFullOutputs'
  }
}

/** Stored bytes are not what was written. */
export class DamagedOutput extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'DamagedOutput'
  }
}
