import type { State } from '../engine/state.ts'
import { limitReason } from './limits.ts'
import { unschedulable } from './unschedulable.ts'

/** Why the queued jobs of a bucket have not started, in one word and for all of them at once: cheap enough to ask of every bucket. */
export function waitCode(state: State, id: number): 'limit' | 'no-worker' | 'no-room' | 'no-session' {
  const bucket = state.buckets.get(id)
  if (bucket === undefined) return 'no-room'
  if (bucket.shape.target !== null)
    return (state.targets.get(bucket.shape.target)?.sessions.size ?? 0) === 0 ? 'no-session' : 'no-room'
  if (limitReason(state, bucket) !== null) return 'limit'
  return unschedulable(state, bucket.shape) === null ? 'no-room' : 'no-worker'
}
