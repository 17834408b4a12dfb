import { jobNumberAt, widened } from './columns.ts'

const NONE = -1
const FIRST_CAPACITY = 1024

/** What memory keeps of a queued job besides its place in the queue. */
export interface QueuedJob {
  readonly seq: number
  readonly bucket: number
  readonly attempts: number
  readonly failures: number
  readonly lost: number
}

interface Ends {
  head: number
  tail: number
  size: number
  /** Where a job was last put between others: many that come back together have their places side by side. */
  near: number
}

/** Queued jobs as typed columns in linked queues, one per bucket, in order of seq: about 40 bytes a job, nothing for the collector to walk. */
export class QueuedJobs {
  #seq = new Float64Array(FIRST_CAPACITY)
  #bucket = new Int32Array(FIRST_CAPACITY)
  #next = new Int32Array(FIRST_CAPACITY)
  #previous = new Int32Array(FIRST_CAPACITY)
  #attempts = new Uint16Array(FIRST_CAPACITY)
  #failures = new Uint8Array(FIRST_CAPACITY)
  #lost = new Uint8Array(FIRST_CAPACITY)
  #slots = new Int32Array(FIRST_CAPACITY * 2).fill(NONE)
  #free = NONE
  #used = 0
  #size = 0
  readonly #ends = new Map<number, Ends>()

  get size(): number {
    return this.#size
  }

  sizeOf(bucket: number): number {
    return this.#ends.get(bucket)?.size ?? 0
  }

  buckets(): IterableIterator<number> {
    return this.#ends.keys()
  }

  has(seq: number): boolean {
    return this.#find(seq) !== NONE
  }

  get(seq: number): QueuedJob | null {
    const slot = this.#find(seq)
    return slot === NONE ? null : this.#read(slot)
  }

  /** The oldest jobs of a bucket, oldest first; the queue must not change while they are walked. */
  *walk(bucket: number): Generator<number> {
    for (let slot = this.#ends.get(bucket)?.head ?? NONE; slot !== NONE; slot = this.#next[slot] ?? NONE)
      yield jobNumberAt(this.#seq, slot)
  }

  oldest(bucket: number): number | null {
    const ends = this.#ends.get(bucket)
    return ends === undefined ? null : jobNumberAt(this.#seq, ends.head)
  }

  newest(bucket: number): number | null {
    const ends = this.#ends.get(bucket)
    return ends === undefined ? null : jobNumberAt(this.#seq, ends.tail)
  }

  add(job: QueuedJob): void {
    if (this.has(job.seq)) throw new Error(`job ${job.seq} is queued already`)
    const slot = this.#take()
    this.#seq[slot] = job.seq
    this.#bucket[slot] = job.bucket
    this.#attempts[slot] = job.attempts
    this.#failures[slot] = job.failures
    this.#lost[slot] = job.lost
    this.#link(slot, job.bucket, job.seq)
    this.#index(slot)
    this.#size += 1
  }

  remove(seq: number): QueuedJob {
    const slot = this.#find(seq)
    if (slot === NONE) throw new Error(`job ${seq} is not queued`)
    const job = this.#read(slot)
    this.#unlink(slot)
    this.#unindex(seq)
    this.#next[slot] = this.#free
    this.#free = slot
    this.#size -= 1
    return job
  }

  #read(slot: number): QueuedJob {
    return {
      seq: jobNumberAt(this.#seq, slot),
      bucket: this.#bucket[slot] ?? 0,
      attempts: this.#attempts[slot] ?? 0,
      failures: this.#failures[slot] ?? 0,
      lost: this.#lost[slot] ?? 0,
    }
  }

  #link(slot: number, bucket: number, seq: number): void {
    const ends = this.#ends.get(bucket)
    if (ends === undefined) {
      this.#next[slot] = NONE
      this.#previous[slot] = NONE
      this.#ends.set(bucket, { head: slot, tail: slot, size: 1, near: slot })
      return
    }
    const before = this.#placeBefore(ends, seq)
    const after = before === NONE ? ends.head : (this.#next[before] ?? NONE)
    this.#previous[slot] = before
    this.#next[slot] = after
    if (before === NONE) ends.head = slot
    else this.#next[before] = slot
    if (after === NONE) ends.tail = slot
    else this.#previous[after] = slot
    if (before !== NONE && after !== NONE) ends.near = slot
    ends.size += 1
  }

  /** New jobs belong at the tail, returning ones near the head or beside the last that came back: walk from both, the shorter way ends the search. */
  #placeBefore({ head, tail, near }: Ends, seq: number): number {
    if ((this.#seq[tail] ?? 0) < seq) return tail
    if ((this.#seq[head] ?? 0) > seq) return NONE
    let [fromHead, fromNear] = [head, near]
    while (!this.#isPlace(fromHead, seq) && !this.#isPlace(fromNear, seq)) {
      fromHead = this.#next[fromHead] ?? NONE
      const isBehind = (this.#seq[fromNear] ?? 0) > seq
      fromNear = (isBehind ? this.#previous[fromNear] : this.#next[fromNear]) ?? NONE
    }
    return this.#isPlace(fromHead, seq) ? fromHead : fromNear
  }

  /** The job belongs directly behind the slot; the tail is known to be younger. */
  #isPlace(slot: number, seq: number): boolean {
    return (this.#seq[slot] ?? 0) < seq && (this.#seq[this.#next[slot] ?? NONE] ?? 0) > seq
  }

  #unlink(slot: number): void {
    const bucket = this.#bucket[slot] ?? 0
    const ends = this.#ends.get(bucket)
    if (ends === undefined) throw new Error(`bucket ${bucket} has no queue`)
    const before = this.#previous[slot] ?? NONE
    const after = this.#next[slot] ?? NONE
    if (before === NONE) ends.head = after
    else this.#next[before] = after
    if (after === NONE) ends.tail = before
    else this.#previous[after] = before
    if (ends.near === slot) ends.near = before === NONE ? after : before
    ends.size -= 1
    if (ends.size === 0) this.#ends.delete(bucket)
  }

  #take(): number {
    if (this.#free !== NONE) {
      const slot = this.#free
      this.#free = this.#next[slot] ?? NONE
      return slot
    }
    if (this.#used === this.#seq.length) this.#grow()
    this.#used += 1
    return this.#used - 1
  }

  #grow(): void {
    const capacity = this.#seq.length * 2
    this.#seq = widened(this.#seq, new Float64Array(capacity))
    this.#bucket = widened(this.#bucket, new Int32Array(capacity))
    this.#next = widened(this.#next, new Int32Array(capacity))
    this.#previous = widened(this.#previous, new Int32Array(capacity))
    this.#attempts = widened(this.#attempts, new Uint16Array(capacity))
    this.#failures = widened(this.#failures, new Uint8Array(capacity))
    this.#lost = widened(this.#lost, new Uint8Array(capacity))
    const old = this.#slots
    this.#slots = new Int32Array(capacity * 2).fill(NONE)
    for (const slot of old) if (slot !== NONE) this.#index(slot)
  }

  #home(seq: number): number {
    return (Math.imul(seq >>> 0, 0x9e3779b1) >>> 0) & (this.#slots.length - 1)
  }

  #index(slot: number): void {
    const mask = this.#slots.length - 1
    let at = this.#home(this.#seq[slot] ?? 0)
    while (this.#slots[at] !== NONE) at = (at + 1) & mask
    this.#slots[at] = slot
  }

  #position(seq: number): number {
    const mask = this.#slots.length - 1
    let at = this.#home(seq)
    for (let slot = this.#slots[at] ?? NONE; slot !== NONE; slot = this.#slots[at] ?? NONE) {
      if (this.#seq[slot] === seq) return at
      at = (at + 1) & mask
    }
    return NONE
  }

  #find(seq: number): number {
    const at = this.#position(seq)
    return at === NONE ? NONE : (this.#slots[at] ?? NONE)
  }

  /** Open addressing without tombstones: followers of the hole move up if they may. */
  #unindex(seq: number): void {
    const mask = this.#slots.length - 1
    let hole = this.#position(seq)
    let at = hole
    for (;;) {
      at = (at + 1) & mask
      const slot = this.#slots[at] ?? NONE
      if (slot === NONE) break
      const home = this.#home(this.#seq[slot] ?? 0)
      if (((at - home) & mask) >= ((at - hole) & mask)) {
        this.#slots[hole] = slot
        hole = at
      }
    }
    this.#slots[hole] = NONE
  }
}
