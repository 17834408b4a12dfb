import { limitsOf } from '../engine/owner-limits.ts'
import type { Bucket } from '../engine/state.ts'
import type { View } from './policy.ts'

type Limited = Pick<View, 'limits' | 'ownerUses' | 'groups'>
type Taken = { running: number; gpus: number }

/** How much owners and groups may still start while a plan is made; only shrinks within a pass. */
export class Allowance {
  readonly #view: Limited
  /** Null until something was taken that has a limit. */
  #owners: Map<string, Taken> | null = null
  #groups: Map<string, number> | null = null

  constructor(view: Limited) {
    this.#view = view
  }

  admits(bucket: Bucket): boolean {
    const { owner, groupId } = bucket
    if (groupId === null && !this.#view.limits.has(owner)) return true
    return limitReason(this.#view, bucket, this.#owners?.get(owner), this.#groups?.get(groupId ?? '')) === null
  }

  take({ owner, groupId, shape }: Bucket): void {
    if (this.#view.limits.has(owner)) {
      this.#owners ??= new Map()
      const { running, gpus } = this.#owners.get(owner) ?? { running: 0, gpus: 0 }
      this.#owners.set(owner, { running: running + 1, gpus: gpus + shape.gpus })
    }
    if (groupId === null) return
    this.#groups ??= new Map()
    this.#groups.set(groupId, (this.#groups.get(groupId) ?? 0) + 1)
  }
}

/** Why nothing of the bucket may start although a worker may be free: the use and its limit; null if something may. */
export function limitReason(
  view: Limited,
  { owner, groupId, shape }: Bucket,
  taken: Readonly<Taken> = { running: 0, gpus: 0 },
  takenByGroup = 0,
): string | null {
  const limits = limitsOf(view, owner)
  const held = view.ownerUses.get(owner)?.now
  const running = (held?.slots ?? 0) + taken.running
  if (limits.running !== null && running >= limits.running)
    return `${owner} has ${running} jobs running, the limit is ${limits.running}`
  const gpus = (held?.devices ?? 0) + taken.gpus
  if (limits.gpus !== null && shape.gpus > 0 && gpus + shape.gpus > limits.gpus)
    return `needs ${shape.gpus} more to the ${gpus} GPUs of ${owner} in use, the limit is ${limits.gpus}`
  const group = groupId === null ? undefined : view.groups.get(groupId)
  if (group === undefined || group.maxParallel === null) return null
  const claims = group.claims + takenByGroup
  return claims < group.maxParallel ? null : `${claims} jobs of its group run, maxParallel is ${group.maxParallel}`
}
