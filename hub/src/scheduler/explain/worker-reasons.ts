import type { Bucket, Now, WorkerState } from '../../engine/state.ts'
import { FitByClass, neverRefusals } from '../fit.ts'
import type { View } from '../policy.ts'
import type { Refusal } from '../refusal.ts'
import { refusalsNow } from '../refusals-now.ts'

/** Everything that keeps a job from one worker; a limit is told apart, for it is the same everywhere. */
export interface WorkerReasons {
  readonly worker: WorkerState
  readonly never: readonly Refusal[]
  readonly now: readonly Refusal[]
}

export function workerReasons(view: View, bucket: Bucket, now: Now): WorkerReasons[] {
  const fit = new FitByClass(bucket.shape)
  const refusalsOf = refusalsNow(view, bucket, now)
  return Array.from(view.workers.values(), worker => ({
    worker,
    never: fit.with(worker) ? [] : neverRefusals(bucket.shape, worker),
    now: refusalsOf(worker).filter(({ code }) => code !== 'owner.limit'),
  }))
}
