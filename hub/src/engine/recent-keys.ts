import type { IdempotencyRow } from '@stoker/protocol'

/** A look into the store that has begun; ends when its answer was used. */
export interface KeyRead {
  readonly since: number
}

/** Idempotency keys the store may not have shown to whoever asked it: those of every batch not written when the oldest open read began. */
export class RecentKeys {
  readonly #keys = new Map<string, { readonly row: IdempotencyRow; readonly batch: number }>()
  readonly #reads = new Set<KeyRead>()
  #decided = 0
  #written = 0

  beginRead(): KeyRead {
    const read = { since: this.#written }
    this.#reads.add(read)
    return read
  }

  endRead(read: KeyRead): void {
    this.#reads.delete(read)
  }

  remember(row: IdempotencyRow): void {
    this.#keys.set(nameOf(row.owner, row.key), { row, batch: this.#decided })
  }

  find(owner: string, key: string): IdempotencyRow | null {
    return this.#keys.get(nameOf(owner, key))?.row ?? null
  }

  /** The batch is closed; what is remembered from now on belongs to the next. */
  decided(): void {
    this.#decided += 1
  }

  /** The oldest closed batch is durable: a read that begins now sees its keys. */
  written(): void {
    this.#written += 1
    let seen = this.#written
    for (const { since } of this.#reads) seen = Math.min(seen, since)
    for (const [name, { batch }] of this.#keys) {
      if (batch >= seen) return
      this.#keys.delete(name)
    }
  }

  /** No closed batch that is not durable ever will be: its keys never were. */
  dropped(): void {
    for (const [name, { batch }] of this.#keys) if (batch >= this.#written) this.#keys.delete(name)
    this.#decided = this.#written
  }
}

function nameOf(owner: string, key: string): string {
  return `${owner}\n${key}`
}
