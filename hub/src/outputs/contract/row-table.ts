import { type ChunkRow, type Fence, fenceKey, type RowWrite, type SealedRow } from '@stoker/protocol'
import type { OutputIndex } from '../port.ts'

/** The store's part in the streams' tests: keeps chunk and sealed rows by key, and is told which attempts have ended. */
export class RowTable implements OutputIndex {
  readonly #chunks = new Map<string, Map<string, ChunkRow>>()
  readonly #sealed = new Map<string, SealedRow>()
  readonly #ended = new Set<string>()

  commit(writes: readonly RowWrite[]): void {
    for (const write of writes) {
      if (write.table === 'chunk' && write.op === 'put') this.#put(write.row)
      else if (write.table === 'sealed' && write.op === 'put') this.#sealed.set(fenceKey(write.row), write.row)
      else if (write.table === 'chunk' && write.op === 'delete') this.#delete(write.key)
      else throw new Error(`streams should write chunk and sealed rows, this is ${write.op} of ${write.table}`)
    }
  }

  end(fence: Fence): void {
    this.#ended.add(fenceKey(fence))
  }

  forget(job: number): void {
    for (const key of [...this.#chunks.keys(), ...this.#sealed.keys()].filter(name => name.startsWith(`${job}-`))) {
      this.#chunks.delete(key)
      this.#sealed.delete(key)
    }
  }

  allRows(): { readonly chunks: ChunkRow[]; readonly sealed: SealedRow[] } {
    const chunks = Array.from(this.#chunks.values(), rows => [...rows.values()]).flat()
    return { chunks, sealed: [...this.#sealed.values()] }
  }

  async hasOutput(job: number, epoch: number, attempt: number): Promise<boolean> {
    const key = fenceKey({ job, epoch, attempt })
    return this.#chunks.has(key) || this.#sealed.has(key)
  }

  async chunks(job: number, epoch: number, attempt: number): Promise<readonly ChunkRow[]> {
    return [...(this.#chunks.get(fenceKey({ job, epoch, attempt }))?.values() ?? [])]
  }

  async sealed(job: number, epoch: number, attempt: number): Promise<SealedRow | null> {
    return this.#sealed.get(fenceKey({ job, epoch, attempt })) ?? null
  }

  async segmentAttempts(segment: number): Promise<readonly (Fence & { readonly ended: boolean })[]> {
    const found: (Fence & { readonly ended: boolean })[] = []
    for (const [key, rows] of this.#chunks) {
      const row = [...rows.values()].find(candidate => candidate.segment === segment)
      if (row === undefined) continue
      found.push({ job: row.job, epoch: row.epoch, attempt: row.attempt, ended: this.#ended.has(key) })
    }
    return found
  }

  #put(row: ChunkRow): void {
    const key = fenceKey(row)
    const rows = this.#chunks.get(key) ?? new Map<string, ChunkRow>()
    this.#chunks.set(key, rows.set(`${row.stream}/${row.offset}`, row))
  }

  #delete({ job, epoch, attempt, stream, offset }: Partial<ChunkRow>): void {
    if (job === undefined || epoch === undefined || attempt === undefined) {
      throw new Error('a delete should name an attempt, a part of its key is missing')
    }
    const key = fenceKey({ job, epoch, attempt })
    const rows = this.#chunks.get(key)
    rows?.delete(`${stream}/${offset}`)
    if (rows?.size === 0) this.#chunks.delete(key)
  }
}
