import { type Fence, fenceKey } from '@stoker/protocol'
import { loadSpans } from './attempt-spans.ts'
import { AttemptState, type StreamEnd } from './attempt-state.ts'
import { countNewlines } from './newlines.ts'
import type { OutputIndex } from './port.ts'
import { spanBytes } from './seek.ts'
import { onceMoreIfMoved, type Span, type Storage } from './storage.ts'

const NONE: StreamEnd = { end: 0, line: 0 }

/** The attempts whose bytes are coming in; all others are in the store only and are loaded when touched. */
export class LiveAttempts {
  readonly #states = new Map<string, AttemptState>()
  readonly #loading = new Map<string, Promise<unknown>>()
  readonly #index: OutputIndex
  readonly #storage: Storage

  constructor(index: OutputIndex, storage: Storage) {
    this.#index = index
    this.#storage = storage
  }

  get(key: string): AttemptState | undefined {
    return this.#states.get(key)
  }

  /** Null when bytes of all these attempts can be taken now, else what to wait for before asking again. */
  whenReady(fences: Iterable<Fence>): Promise<unknown> | null {
    const waits: Promise<unknown>[] = []
    for (const fence of fences) {
      const key = fenceKey(fence)
      if (!this.#states.has(key)) waits.push(this.#loading.get(key) ?? this.#load(key, fence))
    }
    return waits.length === 0 ? null : Promise.all(waits)
  }

  ended(key: string): void {
    const state = this.#states.get(key)
    if (state === undefined) return
    state.ended = true
    this.dropIfDone(key)
  }

  dropIfDone(key: string): void {
    const state = this.#states.get(key)
    if (state?.ended && state.isClean()) this.#states.delete(key)
  }

  /** Whoever was quiet since the last call leaves memory, unless the store does not know all of it yet. */
  dropQuiet(): void {
    for (const [key, state] of this.#states) {
      if (!state.recent && state.isClean()) this.#states.delete(key)
      state.recent = false
    }
  }

  /** Rows on their way to the store point into the segment; a closed segment gets no new ones. */
  refersTo(segment: number): boolean {
    for (const state of this.#states.values()) if (state.refersTo(segment)) return true
    return false
  }

  #load(key: string, fence: Fence): Promise<unknown> {
    const loading = this.#loadState(fence).then(state => this.#states.set(key, state))
    this.#loading.set(key, loading)
    const over = () => this.#loading.delete(key)
    loading.then(over, over)
    return loading
  }

  async #loadState(fence: Fence): Promise<AttemptState> {
    if (!(await this.#index.hasOutput(fence.job, fence.epoch, fence.attempt)))
      return new AttemptState(fence, [NONE, NONE])
    return onceMoreIfMoved(async () => {
      const [out, err] = await loadSpans(fence, this.#index, this.#storage)
      return new AttemptState(fence, [await this.#endOf(out), await this.#endOf(err)])
    })
  }

  async #endOf(spans: readonly Span[]): Promise<StreamEnd> {
    const last = spans.at(-1)
    if (last === undefined) return NONE
    const bytes = await spanBytes(this.#storage, last)
    return { end: last.offset + last.length, line: last.line + countNewlines(bytes) }
  }
}
