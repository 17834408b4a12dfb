import { type Change, type ChangeOf, fenceKey, NO_LIMITS, type OwnerLimits } from '@stoker/protocol'
import type { Complain } from './problems.ts'

interface Held {
  readonly use: Use
  readonly groupId: string | null
  readonly gpus: number
  readonly isTask: boolean
  readonly worker: string
}

interface Use {
  queued: number
  running: number
  gpus: number
}

/** Counts what owners and groups have, and looks at each submit and placement whether their limits allowed it. Needs the whole journal. */
export class LimitBook {
  readonly #complain: Complain
  readonly #limits = new Map<string, OwnerLimits>()
  readonly #uses = new Map<string, Use>()
  readonly #groups = new Map<string, { readonly most: number | null; claims: number }>()
  readonly #buckets = new Map<number, { readonly owner: string; readonly groupId: string | null }>()
  readonly #bucketOf = new Map<number, number>()
  readonly #claims = new Map<string, Held>()

  constructor(complain: Complain) {
    this.#complain = complain
  }

  take(change: Change): void {
    switch (change.c) {
      case 'ownerLimits':
        this.#limits.set(change.owner, change.limits)
        break
      case 'bucket':
        this.#buckets.set(change.id, { owner: change.owner, groupId: change.groupId ?? null })
        break
      case 'group':
        this.#groups.set(change.id, { most: change.maxParallel, claims: 0 })
        break
      case 'submitted':
        this.#submit(change)
        break
      case 'placed':
        this.#place(change)
        break
      case 'resumed':
        this.#useOf(this.#ownerOf(change.job)).queued -= 1
        break
      case 'lost':
        this.#useOf(this.#ownerOf(change.job)).queued += 1
        break
      case 'attemptEnded':
        this.#release(fenceKey(change))
        if (change.next === 'queued' || change.next === 'waiting') this.#useOf(this.#ownerOf(change.job)).queued += 1
        else this.#bucketOf.delete(change.job)
        break
      case 'ended':
        this.#useOf(this.#ownerOf(change.job)).queued -= 1
        this.#bucketOf.delete(change.job)
        break
      case 'released':
        this.#release(fenceKey(change))
        break
      case 'workerRemoved':
        for (const [key, { worker }] of [...this.#claims]) if (worker === change.id) this.#release(key)
        break
      default:
    }
  }

  #submit({ owner, jobs }: ChangeOf<'submitted'>): void {
    for (const { seq, bucket } of jobs) this.#bucketOf.set(seq, bucket)
    const use = this.#useOf(owner)
    use.queued += jobs.length
    const { queued: most } = this.#limitsOf(owner)
    if (most !== null && use.queued > most)
      this.#complain('limit', `${owner} then has ${use.queued} jobs queued, the limit is ${most}`)
  }

  #place(change: ChangeOf<'placed'>): void {
    const { owner, groupId } = this.#buckets.get(this.#bucketOf.get(change.job) ?? -1) ?? { owner: '', groupId: null }
    const use = this.#useOf(owner)
    // A task has only what its session has taken already.
    const isTask = change.session !== undefined
    this.#claims.set(fenceKey(change), { use, groupId, gpus: change.gpus.length, isTask, worker: change.worker })
    use.queued -= 1
    if (!isTask) use.running += 1
    use.gpus += change.gpus.length
    const { running, gpus } = this.#limitsOf(owner)
    if (!isTask && running !== null && use.running > running)
      this.#complain('limit', `${owner} then has ${use.running} jobs running, the limit is ${running}`)
    if (gpus !== null && change.gpus.length > 0 && use.gpus > gpus)
      this.#complain('limit', `${owner} then uses ${use.gpus} GPUs, the limit is ${gpus}`)
    const group = groupId === null ? undefined : this.#groups.get(groupId)
    if (group === undefined) return
    group.claims += 1
    if (group.most !== null && group.claims > group.most)
      this.#complain('limit', `group ${groupId} then has ${group.claims} jobs at once, maxParallel is ${group.most}`)
  }

  #release(key: string): void {
    const held = this.#claims.get(key)
    if (held === undefined) return
    this.#claims.delete(key)
    const { use, groupId } = held
    if (!held.isTask) use.running -= 1
    use.gpus -= held.gpus
    const group = groupId === null ? undefined : this.#groups.get(groupId)
    if (group !== undefined) group.claims -= 1
  }

  #ownerOf(job: number): string {
    return this.#buckets.get(this.#bucketOf.get(job) ?? -1)?.owner ?? ''
  }

  #limitsOf(owner: string): OwnerLimits {
    return this.#limits.get(owner) ?? NO_LIMITS
  }

  #useOf(owner: string): Use {
    const known = this.#uses.get(owner)
    if (known !== undefined) return known
    const fresh = { queued: 0, running: 0, gpus: 0 }
    this.#uses.set(owner, fresh)
    return fresh
  }
}
