import { bucketKey } from '../shape-of.ts'
import type { Bucket, State } from '../state.ts'
import type { Emit } from './emit.ts'

/** The bucket of jobs alike, made if there is none. */
export function bucketFor(
  state: State,
  { owner, priority, shape, terms, groupId }: Pick<Bucket, 'owner' | 'priority' | 'shape' | 'terms' | 'groupId'>,
  emit: Emit,
): number {
  const known = state.bucketByKey.get(bucketKey(owner, priority, shape, terms, groupId))
  if (known !== undefined) return known
  const id = state.lastBucket + 1
  const group = groupId === null ? {} : { groupId }
  emit.change({ c: 'bucket', id, owner, priority, shape, terms, ...group })
  return id
}
