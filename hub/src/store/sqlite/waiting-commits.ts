import { type Fence, fenceKey, type IdempotencyRow } from '@stoker/protocol'
import type { Commit } from '../port.ts'
import type { EncodedCommit } from './encode.ts'

/** What an offer needs of a job. */
export interface WaitingJob {
  readonly seq: number
  readonly id: string
  readonly spec: string
}

/** Commits that are no rows yet, and what is asked about them before they are. */
export class WaitingCommits {
  readonly #jobs = new Map<number, WaitingJob>()
  readonly #keys = new Map<string, IdempotencyRow>()
  readonly #outputs = new Set<string>()
  readonly #commits: EncodedCommit[] = []
  #rows = 0

  get count(): number {
    return this.#commits.length
  }

  get rows(): number {
    return this.#rows
  }

  add({ rows }: Commit, encoded: EncodedCommit): void {
    this.#commits.push(encoded)
    this.#rows += rows.length
    for (const write of rows) {
      if (write.op === 'insert' && write.table === 'job') this.#jobs.set(write.row.seq, write.row)
      else if (write.op === 'put' && write.table === 'idempotency')
        this.#keys.set(nameOf(write.row.owner, write.row.key), write.row)
      else if (write.op === 'put' && (write.table === 'chunk' || write.table === 'sealed'))
        this.#outputs.add(fenceKey(write.row))
    }
  }

  job(seq: number): WaitingJob | null {
    const row = this.#jobs.get(seq)
    return row === undefined ? null : { seq, id: row.id, spec: row.spec }
  }

  key(owner: string, key: string): IdempotencyRow | null {
    return this.#keys.get(nameOf(owner, key)) ?? null
  }

  hasOutput(attempt: Fence): boolean {
    return this.#outputs.has(fenceKey(attempt))
  }

  [Symbol.iterator](): IterableIterator<EncodedCommit> {
    return this.#commits.values()
  }
}

const nameOf = (owner: string, key: string) => JSON.stringify([owner, key])
