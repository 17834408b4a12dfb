import { sha256 } from '@stoker/files'

const REMEMBERED = 1000

/** Knows a batch of log lines that was sent again because its answer was lost: it is like the last one of its job, to the letter. */
export class RepeatedBatches {
  readonly #last = new Map<string, string>()

  isRepeated(job: string, batch: unknown): boolean {
    const hash = sha256(JSON.stringify(batch))
    const isSame = this.#last.get(job) === hash
    this.#last.delete(job)
    this.#last.set(job, hash)
    const [oldest] = this.#last.keys()
    if (this.#last.size > REMEMBERED && oldest !== undefined) this.#last.delete(oldest)
    return isSame
  }
}
