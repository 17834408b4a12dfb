import type { Bucket } from '../engine/state.ts'
import { Heap } from './heap.ts'

/** A bucket in the pass, with its oldest unplaced job. */
export interface Waiting {
  readonly bucket: Bucket
  head: number
}

interface Group<E extends Waiting> {
  readonly owner: string
  readonly priority: number
  readonly entries: Heap<E>
  standing: number
}

/** Buckets in the order in which their jobs may start: priority, then the owner's standing, then age. */
export class Order<E extends Waiting> {
  readonly #groups = new Heap<Group<E>>(isBefore)
  readonly #standingOf: (owner: string) => number
  /** With one owner there is nothing to share out, so nobody's standing is asked for. */
  readonly isShared: boolean

  constructor(entries: readonly E[], standingOf: (owner: string) => number) {
    this.isShared = entries.some(entry => entry.bucket.owner !== entries[0]?.bucket.owner)
    this.#standingOf = this.isShared ? standingOf : () => 0
    for (const group of grouped(entries)) {
      group.standing = this.#standingOf(group.owner)
      this.#groups.push(group)
    }
  }

  get first(): E | undefined {
    for (;;) {
      const group = this.#groups.top
      if (group === undefined) return undefined
      const standing = this.#standingOf(group.owner)
      if (standing === group.standing) return group.entries.top
      group.standing = standing
      this.#groups.sinkTop()
    }
  }

  /** The first entry goes on with a younger job. */
  advance(): void {
    this.#groups.top?.entries.sinkTop()
    this.#groups.sinkTop()
  }

  /** The first entry is done with. */
  drop(): void {
    const entries = this.#groups.top?.entries
    entries?.dropTop()
    if (entries?.top === undefined) this.#groups.dropTop()
    else this.#groups.sinkTop()
  }

  /** So are all others of its priority. */
  dropPriority(): void {
    const group = this.#groups.top
    while (group !== undefined && this.#groups.top?.priority === group.priority) this.#groups.dropTop()
  }
}

/** By owner and priority. */
function grouped<E extends Waiting>(entries: readonly E[]): readonly Group<E>[] {
  const [first] = entries
  if (first !== undefined && entries.length === 1) return [groupWith(first)]
  const groups: Group<E>[] = []
  const byOwner = new Map<string, Map<number, Group<E>>>()
  for (const entry of entries) {
    const { owner, priority } = entry.bucket
    const own = byOwner.get(owner) ?? new Map<number, Group<E>>()
    byOwner.set(owner, own)
    const known = own.get(priority)
    if (known !== undefined) {
      known.entries.push(entry)
      continue
    }
    const group = groupWith(entry)
    own.set(priority, group)
    groups.push(group)
  }
  return groups
}

function groupWith<E extends Waiting>(entry: E): Group<E> {
  const { owner, priority } = entry.bucket
  const entries = new Heap<E>(isOlder)
  entries.push(entry)
  return { owner, priority, entries, standing: 0 }
}

function isOlder(a: Waiting, b: Waiting): boolean {
  return a.head < b.head
}

function isBefore<E extends Waiting>(a: Group<E>, b: Group<E>): boolean {
  if (a.priority !== b.priority) return a.priority > b.priority
  if (a.standing !== b.standing) return a.standing < b.standing
  return (a.entries.top?.head ?? 0) < (b.entries.top?.head ?? 0)
}
