import type { BlobRow, RowWrite } from '@stoker/protocol'
import type { BlobIndex } from '../port.ts'

/** The store as content sees it, for tests: what was committed can be looked at. */
export class BlobTable implements BlobIndex {
  readonly commits: RowWrite[] = []
  readonly #rows = new Map<string, BlobRow>()
  fail: Error | null = null

  async commit(rows: readonly RowWrite[]): Promise<void> {
    if (this.fail !== null) throw this.fail
    for (const row of rows) this.#write(row)
  }

  async blobs(owner: string, hashes: readonly string[]): Promise<readonly BlobRow[]> {
    return hashes.flatMap(sha256 => this.#rows.get(`${owner} ${sha256}`) ?? [])
  }

  async blobUse(): Promise<readonly { readonly owner: string; readonly bytes: number }[]> {
    const use = new Map<string, number>()
    for (const { owner, size } of this.#rows.values()) use.set(owner, (use.get(owner) ?? 0) + size)
    return [...use].map(([owner, bytes]) => ({ owner, bytes }))
  }

  #write(write: RowWrite): void {
    if (write.table !== 'blob') throw new Error(`content writes only its own rows, it wrote to ${write.table}`)
    this.commits.push(write)
    const part = 'row' in write ? write.row : write.key
    const key = `${part.owner} ${part.sha256}`
    const old = this.#rows.get(key)
    if (write.op === 'delete') this.#rows.delete(key)
    else if (write.op === 'update') {
      if (old === undefined) throw new Error(`${key} is updated, but not there`)
      this.#rows.set(key, { ...old, ...write.set })
    } else this.#rows.set(key, write.row)
  }
}
