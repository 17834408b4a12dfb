import { bucketKey } from '../../engine/shape-of.ts'
import type { Bucket, Now, State, WorkerState } from '../../engine/state.ts'
import type { Policy, View } from '../policy.ts'
import { ChangedQueue } from './changed-queue.ts'

/** The worker on which the very next plan would start the job if it were in another bucket; null if it would not start. */
export function startsIn(
  state: State,
  policy: Policy,
  job: number,
  changed: Pick<Bucket, 'owner' | 'priority' | 'shape' | 'terms' | 'groupId'>,
  now: Now,
): string | null {
  const { owner, priority, shape, terms, groupId } = changed
  const key = bucketKey(owner, priority, shape, terms, groupId)
  const id = state.bucketByKey.get(key) ?? state.lastBucket + 1
  const queued = new ChangedQueue(state.queued, job, id)
  const bucket: Bucket = { id, key, owner, priority, shape, terms, groupId, live: 1 }
  const dirtyBuckets = new Set([id])
  const buckets = { get: (other: number) => (other === id ? bucket : state.buckets.get(other)) }
  return planned({ ...state, queued, buckets, dirtyBuckets, dirtyWorkers: new Set() }, policy, job, now)
}

/** The same if a worker took jobs; all that wait may go there first. */
export function startsWith(state: State, policy: Policy, job: number, worker: WorkerState, now: Now): string | null {
  const open = {
    ...worker,
    draining: false,
    connected: true,
    mistrusted: false,
    heardAt: now.lease,
    asks: worker.facts.maxJobs,
  }
  const workers = new Map(state.workers).set(worker.id, open)
  return planned({ ...state, workers, dirtyBuckets: new Set(), dirtyWorkers: new Set([worker.id]) }, policy, job, now)
}

/** The same if the owner's limits were others; all jobs of the owner may go first. */
export function startsUnder(
  state: State,
  policy: Policy,
  job: number,
  {
    owner,
    limits,
  }: { readonly owner: string; readonly limits: State['limits'] extends Map<string, infer L> ? L : never },
  now: Now,
): string | null {
  const dirtyBuckets = new Set<number>()
  for (const id of state.queued.buckets()) if (state.buckets.get(id)?.owner === owner) dirtyBuckets.add(id)
  if (dirtyBuckets.size > MOST_BUCKETS) return null
  const changed = new Map(state.limits).set(owner, limits)
  return planned({ ...state, limits: changed, dirtyBuckets, dirtyWorkers: new Set() }, policy, job, now)
}

/** More would take too long for an answer. */
const MOST_BUCKETS = 200

function planned(view: View, policy: Policy, job: number, now: Now): string | null {
  return policy.plan(view, now).placements.find(placement => placement.job === job)?.worker ?? null
}
