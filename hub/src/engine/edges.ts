import type { DependencyKind, TerminalState } from '@stoker/protocol'
import { jobNumberAt, widened } from './columns.ts'

const NONE = -1
const FIRST_CAPACITY = 256
const KINDS: readonly DependencyKind[] = ['success', 'end', 'failure']

/** A waiting job and one it waits for; `id` is the name people know the dependency by. */
export interface Edge {
  readonly job: number
  readonly dependency: number
  readonly id: string
  readonly kind: DependencyKind
}

interface Dependents {
  readonly id: string
  head: number
  tail: number
}

/** Whether a dependency that ended so is what the kind of edge asks for; `canceled` is neither success nor failure. */
export function isMetBy(kind: DependencyKind, end: TerminalState): boolean {
  if (kind === 'end') return true
  return kind === 'success' ? end === 'succeeded' : end === 'failed' || end === 'timed_out'
}

/**
 * The edges of waiting jobs that are not met yet, as typed columns in two lists: by waiting job, and by dependency in
 * the order of their coming. Measured with the waiting job itself: 190 bytes for one of many dependents of a job, 330
 * for one in a chain, where every job is also waited for and its id kept. Nothing is kept of jobs that do neither.
 */
export class Edges {
  #job = new Float64Array(FIRST_CAPACITY)
  #dependency = new Float64Array(FIRST_CAPACITY)
  #kind = new Uint8Array(FIRST_CAPACITY)
  #nextOfJob = new Int32Array(FIRST_CAPACITY)
  #next = new Int32Array(FIRST_CAPACITY)
  #previous = new Int32Array(FIRST_CAPACITY)
  #free = NONE
  #used = 0
  #size = 0
  readonly #needs = new Map<number, number>()
  readonly #dependents = new Map<number, Dependents>()

  get size(): number {
    return this.#size
  }

  /** The jobs that wait for at least one other. */
  jobs(): IterableIterator<number> {
    return this.#needs.keys()
  }

  has(job: number): boolean {
    return this.#needs.has(job)
  }

  isAwaited(dependency: number): boolean {
    return this.#dependents.has(dependency)
  }

  *of(job: number): Generator<Edge> {
    for (let slot = this.#needs.get(job) ?? NONE; slot !== NONE; slot = this.#nextOfJob[slot] ?? NONE)
      yield this.#read(slot)
  }

  /** The oldest edge to the dependency. */
  firstTo(dependency: number): Edge | null {
    const dependents = this.#dependents.get(dependency)
    return dependents === undefined ? null : this.#read(dependents.head)
  }

  add({ job, dependency, id, kind }: Edge): void {
    const slot = this.#take()
    this.#job[slot] = job
    this.#dependency[slot] = dependency
    this.#kind[slot] = KINDS.indexOf(kind)
    this.#nextOfJob[slot] = this.#needs.get(job) ?? NONE
    this.#needs.set(job, slot)
    this.#next[slot] = NONE
    const dependents = this.#dependents.get(dependency)
    this.#previous[slot] = dependents?.tail ?? NONE
    if (dependents === undefined) this.#dependents.set(dependency, { id, head: slot, tail: slot })
    else {
      this.#next[dependents.tail] = slot
      dependents.tail = slot
    }
    this.#size += 1
  }

  remove(job: number, dependency: number): void {
    let before = NONE
    let slot = this.#needs.get(job) ?? NONE
    while (slot !== NONE && this.#dependency[slot] !== dependency) {
      before = slot
      slot = this.#nextOfJob[slot] ?? NONE
    }
    if (slot === NONE) throw new Error(`job ${job} does not wait for job ${dependency}`)
    const after = this.#nextOfJob[slot] ?? NONE
    if (before !== NONE) this.#nextOfJob[before] = after
    else if (after !== NONE) this.#needs.set(job, after)
    else this.#needs.delete(job)
    this.#unlink(slot, dependency)
  }

  #unlink(slot: number, dependency: number): void {
    const dependents = this.#dependents.get(dependency)
    if (dependents === undefined) throw new Error(`nobody waits for job ${dependency}`)
    const before = this.#previous[slot] ?? NONE
    const after = this.#next[slot] ?? NONE
    if (before === NONE) dependents.head = after
    else this.#next[before] = after
    if (after === NONE) dependents.tail = before
    else this.#previous[after] = before
    if (dependents.head === NONE) this.#dependents.delete(dependency)
    this.#next[slot] = this.#free
    this.#free = slot
    this.#size -= 1
  }

  #read(slot: number): Edge {
    const dependency = jobNumberAt(this.#dependency, slot)
    return {
      job: jobNumberAt(this.#job, slot),
      dependency,
      id: this.#dependents.get(dependency)?.id ?? '',
      kind: KINDS[this.#kind[slot] ?? 0] ?? 'success',
    }
  }

  #take(): number {
    if (this.#free !== NONE) {
      const slot = this.#free
      this.#free = this.#next[slot] ?? NONE
      return slot
    }
    if (this.#used === this.#job.length) this.#grow()
    this.#used += 1
    return this.#used - 1
  }

  #grow(): void {
    const capacity = this.#job.length * 2
    this.#job = widened(this.#job, new Float64Array(capacity))
    this.#dependency = widened(this.#dependency, new Float64Array(capacity))
    this.#kind = widened(this.#kind, new Uint8Array(capacity))
    this.#nextOfJob = widened(this.#nextOfJob, new Int32Array(capacity))
    this.#next = widened(this.#next, new Int32Array(capacity))
    this.#previous = widened(this.#previous, new Int32Array(capacity))
  }
}
