import { NO_LIMITS, type OwnerLimits } from '@stoker/protocol'
import type { Claim, State } from './state.ts'

/** What the attempts of an owner hold, lost ones included: they may still run. */
export interface OwnerUse {
  running: number
  gpus: number
}

export function limitsOf(state: Pick<State, 'limits'>, owner: string): OwnerLimits {
  return state.limits.get(owner) ?? NO_LIMITS
}

export function useOf(state: Pick<State, 'use'>, owner: string): Readonly<OwnerUse> {
  return state.use.get(owner) ?? { running: 0, gpus: 0 }
}

export function takeUse(state: State, claim: Claim): void {
  const { running, gpus } = useOf(state, claim.owner)
  state.use.set(claim.owner, { running: running + 1, gpus: gpus + claim.gpus.length })
  const group = claim.groupId === null ? undefined : state.groups.get(claim.groupId)
  if (group !== undefined) group.claims += 1
}

/** What a limit kept back may start now, on any worker. */
export function giveUse(state: State, claim: Claim): void {
  const { running, gpus } = useOf(state, claim.owner)
  if (running === 1) state.use.delete(claim.owner)
  else state.use.set(claim.owner, { running: running - 1, gpus: gpus - claim.gpus.length })
  const limits = limitsOf(state, claim.owner)
  if (limits.running !== null || limits.gpus !== null) state.woken.add(claim.owner)
  const group = claim.groupId === null ? undefined : state.groups.get(claim.groupId)
  if (group === undefined) return
  group.claims -= 1
  if (group.maxParallel !== null) state.woken.add(group.id)
}

/** A bucket that waits looks only at workers where something changed; what waited for a limit must look at all. */
export function wakeLimited(state: State): void {
  if (state.woken.size === 0) return
  for (const id of state.queued.buckets()) {
    const bucket = state.buckets.get(id)
    if (bucket === undefined) continue
    const { owner, groupId } = bucket
    if (state.woken.has(owner) || (groupId !== null && state.woken.has(groupId))) state.dirtyBuckets.add(id)
  }
  state.woken.clear()
}

/** Why an owner may not queue so many more; null if they may. */
export function queueRefusal(state: State, owner: string, more: number): string | null {
  const { queued: most } = limitsOf(state, owner)
  if (most === null) return null
  const counts = state.counters.get(owner)
  const now = (counts?.queued ?? 0) + (counts?.waiting ?? 0)
  if (now + more <= most) return null
  return `${owner} has ${now} jobs queued and submits ${more}; the limit is ${most}`
}
