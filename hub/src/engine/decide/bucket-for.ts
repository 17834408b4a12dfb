import { bucketKey } from '../shape-of.ts'
import type { Bucket, State } from '../state.ts'
import type { Emit } from './emit.ts'

/** The bucket of jobs alike, made if there is none. */
export function bucketFor(
  state: State,
  { owner, priority, shape, terms }: Pick<Bucket, 'owner' | 'priority' | 'shape' | 'terms'>,
  emit: Emit,
): number {
  const known = state.bucketByKey.get(bucketKey(owner, priority, shape, terms))
  if (known !== undefined) return known
  const id = state.lastBucket + 1
  emit.change({ c: 'bucket', id, owner, priority, shape, terms })
  return id
}
