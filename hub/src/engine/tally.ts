import type { JobState } from '@stoker/protocol'
import { countInGroup } from './groups.ts'
import { moveJob } from './life-cycle.ts'
import { type Bucket, countersOf, type State } from './state.ts'

export function bucketOf(state: State, id: number): Bucket {
  const bucket = state.buckets.get(id)
  if (bucket === undefined) throw new Error(`bucket ${id} does not exist`)
  return bucket
}

/** The counter is written with the batch. */
export function markMoved(state: State, owner: string, moved: JobState): void {
  const known = state.dirtyCounters.get(owner)
  if (known === undefined) state.dirtyCounters.set(owner, new Set([moved]))
  else known.add(moved)
}

/** Moves one job of the bucket from one counter of its owner, and of its group, to another; a move no job may make throws. */
export function countMove(state: State, bucket: number, from: JobState, to: JobState): void {
  const { owner, groupId } = bucketOf(state, bucket)
  const counters = countersOf(state, owner)
  counters[from] -= 1
  counters[moveJob(from, to)] += 1
  countInGroup(state, groupId, from, to)
  markMoved(state, owner, from)
  markMoved(state, owner, to)
}
