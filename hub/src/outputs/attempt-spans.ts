import { type ChunkRow, type Fence, fenceKey } from '@stoker/protocol'
import type { OutputIndex } from './port.ts'
import type { BlockSpan, Span, Storage } from './storage.ts'

/** Both streams of one attempt as gapless lists of spans from byte 0 on. */
export type AttemptSpans = readonly [readonly Span[], readonly Span[]]

/** A few readers at a time page through large outputs; all others pay one query per read. */
const CACHED_ATTEMPTS = 8

interface Entry {
  readonly late: ChunkRow[]
  readonly spans: Promise<[Span[], Span[]]>
}

/** The index of the attempts read most recently, kept right by hearing of every commit. */
export class SpanCache {
  readonly #entries = new Map<string, Entry>()
  readonly #index: OutputIndex
  readonly #storage: Storage

  constructor(index: OutputIndex, storage: Storage) {
    this.#index = index
    this.#storage = storage
  }

  /** What the store knows, followed by the given rows that it may not know yet. */
  async spans(fence: Fence, uncommitted: readonly ChunkRow[]): Promise<AttemptSpans> {
    const key = fenceKey(fence)
    const entry = this.#entries.get(key) ?? this.#load(fence)
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= CACHED_ATTEMPTS) break
      this.#entries.delete(oldest)
    }
    const spans = await entry.spans
    extend(spans, entry.late.splice(0))
    return uncommitted.length === 0 ? spans : extend([[...spans[0]], [...spans[1]]], uncommitted)
  }

  committed(key: string, row: ChunkRow): void {
    this.#entries.get(key)?.late.push(row)
  }

  forget(fence: Fence): void {
    this.#entries.delete(fenceKey(fence))
  }

  forgetAll(): void {
    this.#entries.clear()
  }

  #load(fence: Fence): Entry {
    const spans = loadSpans(fence, this.#index, this.#storage)
    spans.catch(() => this.forget(fence))
    return { late: [], spans }
  }
}

/** One attempt's spans straight from the store. Chunks are asked first: what is sealed between the two questions is then seen twice, never not at all. */
export async function loadSpans(fence: Fence, index: OutputIndex, storage: Storage): Promise<[Span[], Span[]]> {
  const rows = await index.chunks(fence.job, fence.epoch, fence.attempt)
  return joinSpans(await storage.sealedSpans(fence), rows)
}

/** Sealed blocks, and the chunks that go on where they end. */
export function joinSpans(sealed: readonly BlockSpan[], rows: readonly ChunkRow[]): [Span[], Span[]] {
  const spans: [Span[], Span[]] = [[], []]
  for (const span of sealed) spans[span.stream].push(span)
  return extend(spans, [...rows].sort(byOffset))
}

/** Rows of bytes already covered are leftovers of a seal; a row behind a hole was committed after the others were read. */
function extend(spans: [Span[], Span[]], rows: readonly (ChunkRow | BlockSpan)[]): [Span[], Span[]] {
  for (const row of rows) {
    const stream = spans[row.stream === 0 ? 0 : 1]
    if (row.offset === endOf(stream)) stream.push(row)
  }
  return spans
}

export function endOf(spans: readonly Span[]): number {
  const last = spans.at(-1)
  return last === undefined ? 0 : last.offset + last.length
}

function byOffset(a: ChunkRow, b: ChunkRow): number {
  return a.offset - b.offset
}
