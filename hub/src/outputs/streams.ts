import { type ChunkRow, type Fence, fenceKey, type RowWrite } from '@stoker/protocol'
import { type AttemptSpans, endOf, SpanCache } from './attempt-spans.ts'
import { type AttemptState, putChunk } from './attempt-state.ts'
import { type Cut, cutRecords } from './cut-records.ts'
import { LiveAttempts } from './live-attempts.ts'
import type {
  OutputChunk,
  OutputIndex,
  OutputListener,
  OutputPage,
  StreamName,
  StreamOffsets,
  Streams,
} from './port.ts'
import { type PageOptions, readPage } from './read-page.ts'
import { tailOffset, timeOffset } from './seek.ts'
import { onceMoreIfMoved, type Storage } from './storage.ts'
import { Watchers } from './watchers.ts'

/** What a sweep may know of the bytes still on their way. */
export interface SweepView {
  readonly live: LiveAttempts
  readonly spans: SpanCache
}

/** The streams over any storage: appends are taken in the order of their calls, also while an attempt is being loaded. */
export class StoredStreams implements Streams {
  readonly #live: LiveAttempts
  readonly #spans: SpanCache
  readonly #watchers = new Watchers()
  readonly #storage: Storage
  readonly #sweepStorage: (view: SweepView) => Promise<void>
  #order: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #sweeping: Promise<void> | null = null
  readonly #freeStorage: () => Promise<void>
  /** Sealing and forgetting never meet: a seal would bring forgotten rows back. */
  #upkeep: Promise<unknown> = Promise.resolve()

  constructor(
    index: OutputIndex,
    storage: Storage,
    sweepStorage: (view: SweepView) => Promise<void>,
    freeStorage: () => Promise<void>,
  ) {
    this.#storage = storage
    this.#live = new LiveAttempts(index, storage)
    this.#spans = new SpanCache(index, storage)
    this.#sweepStorage = sweepStorage
    this.#freeStorage = freeStorage
  }

  async append(chunks: readonly OutputChunk[]): Promise<readonly RowWrite[]> {
    const fences = chunks.map(chunk => chunk.fence)
    const loading = this.#live.whenReady(fences)
    if (loading === null && this.#waiting === 0) return this.#take(chunks)
    this.#waiting++
    const turn = this.#order.then(async () => {
      try {
        await loading
        for (let wait = this.#live.whenReady(fences); wait !== null; wait = this.#live.whenReady(fences)) await wait
        return { taken: this.#take(chunks) }
      } finally {
        this.#waiting--
      }
    })
    this.#order = turn.catch(() => undefined)
    loading?.catch(() => undefined)
    return (await turn).taken
  }

  committed(rows: readonly RowWrite[]): void {
    for (const write of rows) {
      if (write.table !== 'chunk' || write.op !== 'put') continue
      const key = fenceKey(write.row)
      this.#live.get(key)?.committed(write.row)
      this.#spans.committed(key, write.row)
      this.#live.dropIfDone(key)
    }
  }

  read(fence: Fence, from: StreamOffsets, options: PageOptions): Promise<OutputPage> {
    return this.#look(fence, spans => readPage(this.#storage, spans, from, options))
  }

  seekTail(fence: Fence, lines: number, stream?: StreamName | undefined): Promise<StreamOffsets> {
    return this.#look(fence, async ([out, err]) => ({
      stdout: await tailOffset(this.#storage, out, stream === 'stderr' ? 0 : lines),
      stderr: await tailOffset(this.#storage, err, stream === 'stdout' ? 0 : lines),
    }))
  }

  seekTime(fence: Fence, at: number): Promise<StreamOffsets> {
    return this.#look(fence, async ([out, err]) => ({
      stdout: await timeOffset(this.#storage, out, at),
      stderr: await timeOffset(this.#storage, err, at),
    }))
  }

  sizes(fence: Fence): Promise<StreamOffsets> {
    return this.#look(fence, async ([out, err]) => ({ stdout: endOf(out), stderr: endOf(err) }))
  }

  watch(fence: Fence, listener: OutputListener): () => void {
    return this.#watchers.add(fence, listener)
  }

  ended(fence: Fence): void {
    this.#live.ended(fenceKey(fence))
  }

  sweep(): Promise<void> {
    this.#sweeping ??= this.#inTurn(() => this.#sweep()).finally(() => {
      this.#sweeping = null
    })
    return this.#sweeping
  }

  forget(commit: () => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      await commit()
      this.#spans.forgetAll()
      await this.#freeStorage()
    })
  }

  async close(): Promise<void> {
    await this.#order
    await this.#upkeep
    await this.#storage.close()
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#upkeep.then(work)
    this.#upkeep = turn.catch(() => undefined)
    return turn
  }

  async #sweep(): Promise<void> {
    this.#live.dropQuiet()
    await this.#sweepStorage({ live: this.#live, spans: this.#spans })
  }

  async #take(chunks: readonly OutputChunk[]): Promise<readonly RowWrite[]> {
    const cut = cutRecords(chunks, key => this.#stateOf(key))
    for (const { state, stream, end } of cut.touched) {
      state.beginWrite()
      state.accept(stream, end)
    }
    for (const { fence, stream, offset, at, bytes } of cut.records) {
      this.#watchers.show(fence, { stream: stream === 0 ? 'stdout' : 'stderr', offset, at, bytes })
    }
    return this.#write(cut)
  }

  #write({ records, touched }: Cut): Promise<readonly RowWrite[]> {
    return new Promise((resolve, reject) => {
      this.#storage.enqueue({
        records,
        synced: places => {
          for (const [i, record] of records.entries()) {
            const place = places[i]
            if (place !== undefined) this.#stateOf(fenceKey(record.fence)).synced(record, place)
          }
          for (const { state } of touched) state.endWrite()
          resolve(touched.flatMap(({ state, stream }) => state.uncommitted(stream).map(putChunk)))
          for (const { state } of touched) this.#live.dropIfDone(fenceKey(state.fence))
        },
        failed: error => {
          for (const { state } of touched) state.failWrite()
          for (const { state } of touched) this.#live.dropIfDone(fenceKey(state.fence))
          reject(error)
        },
      })
    })
  }

  /** A state in use is never dropped, as it is not clean. */
  #stateOf(key: string): AttemptState {
    const state = this.#live.get(key)
    if (state === undefined) throw new Error(`attempt ${key} has bytes on their way, but no state in memory`)
    return state
  }

  async #look<T>(fence: Fence, look: (spans: AttemptSpans) => Promise<T>): Promise<T> {
    if (this.#live.get(fenceKey(fence))?.isWriting()) await this.#settled()
    return onceMoreIfMoved(async () => {
      try {
        return await look(await this.#spans.spans(fence, this.#uncommitted(fence)))
      } catch (error) {
        this.#spans.forget(fence)
        throw error
      }
    })
  }

  #uncommitted(fence: Fence): readonly ChunkRow[] {
    const state = this.#live.get(fenceKey(fence))
    return state === undefined ? [] : [...state.uncommitted(0), ...state.uncommitted(1)]
  }

  /** All writes asked for so far are synced or have failed; to a reader both are fine. */
  #settled(): Promise<void> {
    return new Promise(resolve =>
      this.#storage.enqueue({ records: [], synced: () => resolve(), failed: () => resolve() }),
    )
  }
}
