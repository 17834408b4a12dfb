import type { IdempotencyRow } from '@stoker/protocol'

/** A look into the store that has begun; ends when its answer was used. */
export interface KeyRead {
  readonly since: number
}

/** Idempotency keys the store may not have shown to whoever asked it: those of every batch since the oldest open read began. */
export class RecentKeys {
  readonly #keys = new Map<string, { readonly row: IdempotencyRow; readonly batch: number }>()
  readonly #reads = new Set<KeyRead>()
  /** The batch being decided or written. */
  #batch = 0

  beginRead(): KeyRead {
    const read = { since: this.#batch }
    this.#reads.add(read)
    return read
  }

  endRead(read: KeyRead): void {
    this.#reads.delete(read)
  }

  remember(row: IdempotencyRow): void {
    this.#keys.set(nameOf(row.owner, row.key), { row, batch: this.#batch })
  }

  find(owner: string, key: string): IdempotencyRow | null {
    return this.#keys.get(nameOf(owner, key))?.row ?? null
  }

  /** The batch is durable: a read that begins now sees its keys. */
  written(): void {
    this.#batch += 1
    let oldest = this.#batch
    for (const { since } of this.#reads) oldest = Math.min(oldest, since)
    for (const [name, { batch }] of this.#keys) {
      if (batch >= oldest) return
      this.#keys.delete(name)
    }
  }

  /** The batch was not written: its keys never were. */
  dropped(): void {
    for (const [name, { batch }] of this.#keys) if (batch === this.#batch) this.#keys.delete(name)
  }
}

function nameOf(owner: string, key: string): string {
  return `${owner}\n${key}`
}
