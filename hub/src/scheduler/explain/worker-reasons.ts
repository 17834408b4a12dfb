import type { Bucket, Now, WorkerState } from '../../engine/state.ts'
import { slotRefusal } from '../busy.ts'
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
  return Array.from(view.workers.values(), worker => {
    const never = fit.with(worker) ? [] : neverRefusals(bucket.shape, worker)
    // A full worker that could never run it is not worth a closer look: no change of the job makes a slot.
    const isFull = never.length > 0 && worker.slotsFree < 1
    const now = isFull ? [slotRefusal(worker)] : refusalsOf(worker).filter(({ code }) => code !== 'owner.limit')
    return { worker, never, now }
  })
}
