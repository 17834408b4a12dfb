import { NO_LIMITS, type OwnerLimits } from '@stoker/protocol'
import { wakeBucket } from './queue.ts'
import type { State } from './state.ts'

export function limitsOf(state: Pick<State, 'limits'>, owner: string): OwnerLimits {
  return state.limits.get(owner) ?? NO_LIMITS
}

/** A bucket that waits looks only at workers where something changed; what waited for a limit must look at all. */
export function wakeLimited(state: State): void {
  if (state.woken.size === 0) return
  for (const id of state.queued.buckets()) {
    const bucket = state.buckets.get(id)
    if (bucket === undefined) continue
    const { owner, groupId } = bucket
    if (state.woken.has(owner) || (groupId !== null && state.woken.has(groupId))) wakeBucket(state, id)
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
