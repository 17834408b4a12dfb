import { bucketKey, isSameShape, isSameTerms } from '../shape-of.ts'
import type { Bucket, State } from '../state.ts'
import type { Emit } from './emit.ts'

type Alike = Pick<Bucket, 'owner' | 'priority' | 'shape' | 'terms' | 'groupId'>

/** The bucket of jobs alike, made if there is none. */
export function bucketFor(state: State, { owner, priority, shape, terms, groupId }: Alike, emit: Emit): number {
  const known = state.bucketByKey.get(bucketKey(owner, priority, shape, terms, groupId))
  if (known !== undefined) return known
  const id = state.lastBucket + 1
  const group = groupId === null ? {} : { groupId }
  emit.change({ c: 'bucket', id, owner, priority, shape, terms, ...group })
  return id
}

/** The same for many jobs in a row: most are like the one before, be it of an earlier submit, and to see that costs less than to write a key. */
export function bucketsFor(state: State, emit: Emit): (asked: Alike) => number {
  let last: (Alike & Pick<Bucket, 'id'>) | undefined = state.buckets.get(state.recentBucket)
  return asked => {
    if (last === undefined || !isAlike(asked, last)) last = { ...asked, id: bucketFor(state, asked, emit) }
    return last.id
  }
}

function isAlike(a: Alike, b: Alike): boolean {
  return (
    a.priority === b.priority &&
    a.owner === b.owner &&
    a.groupId === b.groupId &&
    isSameShape(a.shape, b.shape) &&
    isSameTerms(a.terms, b.terms)
  )
}
