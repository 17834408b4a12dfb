import { QueuedJobs } from '../../engine/queued-jobs.ts'

/** The queue as it would be with one job in another bucket, for a plan that is only tried: nothing can be added or taken. */
export class ChangedQueue extends QueuedJobs {
  readonly #inner: QueuedJobs
  readonly #job: number
  readonly #bucket: number

  constructor(inner: QueuedJobs, job: number, bucket: number) {
    super()
    this.#inner = inner
    this.#job = job
    this.#bucket = bucket
  }

  override get size(): number {
    return this.#inner.size + (this.#inner.has(this.#job) ? 0 : 1)
  }

  override sizeOf(bucket: number): number {
    const isFrom = this.#inner.get(this.#job)?.bucket === bucket ? 1 : 0
    return this.#inner.sizeOf(bucket) - isFrom + (bucket === this.#bucket ? 1 : 0)
  }

  override *buckets(): IterableIterator<number> {
    let isListed = false
    for (const id of this.#inner.buckets()) {
      isListed ||= id === this.#bucket
      yield id
    }
    if (!isListed) yield this.#bucket
  }

  override has(seq: number): boolean {
    return seq === this.#job || this.#inner.has(seq)
  }

  override *walk(bucket: number): Generator<number> {
    let isDue = bucket === this.#bucket
    for (const seq of this.#inner.walk(bucket)) {
      if (isDue && seq >= this.#job) {
        yield this.#job
        isDue = false
      }
      if (seq !== this.#job) yield seq
    }
    if (isDue) yield this.#job
  }

  override oldest(bucket: number): number | null {
    for (const seq of this.walk(bucket)) return seq
    return null
  }

  override add(): never {
    throw new Error('a queue that is only tried takes no jobs')
  }

  override remove(): never {
    throw new Error('a queue that is only tried gives no jobs')
  }
}
