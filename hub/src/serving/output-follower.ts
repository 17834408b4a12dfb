import type { Fence } from '@stoker/protocol'
import type { OutputPiece, StreamName, StreamOffsets, Streams } from '../outputs/port.ts'

/** What one look at the store may bring: its lines are written out in one go, and everybody else waits for that. */
const PAGE_BYTES = 64 * 1024

/*
 * behind ──the store has no more──► live
 * live ──a live piece leaves a gap, or the watcher lagged──► behind
 */

/** One attempt's bytes, in order and without gap or repeat, pulled by whoever reads; holds one live piece at most. */
export class OutputFollower {
  readonly #streams: Pick<Streams, 'read'>
  readonly #fence: Fence
  readonly #only: StreamName | undefined
  readonly #at: { stdout: number; stderr: number }
  readonly #unwatch: () => void
  #isBehind = true
  #live: { readonly item: OutputPiece | 'lagged'; readonly taken: () => void } | null = null

  /** `wake` is called whenever there may be something to take. */
  constructor(
    streams: Pick<Streams, 'read' | 'watch'>,
    fence: Fence,
    from: StreamOffsets,
    options: { readonly only: StreamName | undefined; readonly wake: () => void },
  ) {
    this.#streams = streams
    this.#fence = fence
    this.#at = { ...from }
    this.#only = options.only
    this.#unwatch = streams.watch(
      fence,
      item =>
        new Promise(taken => {
          this.#live = { item, taken }
          options.wake()
        }),
    )
  }

  /** What is next; nothing when it has not come yet. */
  async take(): Promise<readonly OutputPiece[]> {
    if (this.#isBehind) return this.#takeStored()
    const live = this.#live
    if (live === null) return []
    this.#live = null
    live.taken()
    if (live.item === 'lagged' || live.item.offset > this.#at[live.item.stream]) return this.#takeStored()
    return this.#advance([live.item])
  }

  /** All that is left of an attempt that is over. */
  async *rest(): AsyncGenerator<readonly OutputPiece[], void> {
    this.#isBehind = true
    do {
      const pieces = await this.#takeStored()
      if (pieces.length > 0) yield pieces
    } while (this.#isBehind)
  }

  close(): void {
    this.#unwatch()
    this.#live?.taken()
    this.#live = null
  }

  async #takeStored(): Promise<readonly OutputPiece[]> {
    this.#isBehind = true
    const page = await this.#streams.read(this.#fence, this.#at, { stream: this.#only, maxBytes: PAGE_BYTES })
    this.#isBehind = !page.end
    return this.#advance(page.pieces)
  }

  /** Cuts what was had already. */
  #advance(pieces: readonly OutputPiece[]): readonly OutputPiece[] {
    return pieces.flatMap(piece => {
      const { stream, offset, at, bytes } = piece
      if (this.#only !== undefined && stream !== this.#only) return []
      const had = this.#at[stream] - offset
      if (had >= bytes.length) return []
      this.#at[stream] = offset + bytes.length
      return [had <= 0 ? piece : { stream, offset: offset + had, at, bytes: bytes.subarray(had) }]
    })
  }
}
