import type { Queries } from '../store/port.ts'

export interface JobName {
  readonly id: string
  readonly owner: string
}

/** About 3 MB at most. */
const KEPT_NAMES = 20_000

/** Ids and owners by seq: neither ever changes, so what was looked up or heard once is kept for a while. */
export class JobNames {
  readonly #known = new Map<number, JobName>()
  readonly #queries: Pick<Queries, 'jobsBySeq'>

  constructor(queries: Pick<Queries, 'jobsBySeq'>) {
    this.#queries = queries
  }

  learn(seq: number, name: JobName): void {
    if (this.#known.has(seq)) return
    this.#known.set(seq, name)
    if (this.#known.size <= KEPT_NAMES) return
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest)
      return
    }
  }

  /** A job that is not there is left out. */
  async resolve(seqs: Iterable<number>): Promise<ReadonlyMap<number, JobName>> {
    const found = new Map<number, JobName>()
    const unknown = new Set<number>()
    for (const seq of seqs) {
      const name = this.#known.get(seq)
      if (name === undefined) unknown.add(seq)
      else found.set(seq, name)
    }
    if (unknown.size === 0) return found
    for (const { seq, id, owner } of await this.#queries.jobsBySeq([...unknown])) {
      found.set(seq, { id, owner })
      this.learn(seq, { id, owner })
    }
    return found
  }
}
