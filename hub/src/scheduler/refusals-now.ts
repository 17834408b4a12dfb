import type { Bucket, Now, WorkerState } from '../engine/state.ts'
import { busyRefusals } from './busy.ts'
import { Devices } from './devices.ts'
import { doorRefusals } from './door.ts'
import { chooseBeside, Holds } from './holds.ts'
import { limitReason } from './limits.ts'
import type { View } from './policy.ts'
import { type Refusal, refusal } from './refusal.ts'
import { Room } from './room.ts'

/** Every reason why a job of a bucket does not start on a worker at this moment, of a worker that could run it; none means that the next pass may place it there. */
export function refusalsNow(view: View, bucket: Bucket, worker: WorkerState, now: Now): Refusal[] {
  const limit = limitReason(view, bucket)
  const found = [
    ...(limit === null ? [] : [refusal('owner.limit', limit)]),
    ...doorRefusals(worker, bucket.id, now),
    ...busyRefusals(view, bucket.shape, worker),
  ]
  return found.length > 0 ? found : reservedRefusals(view, bucket, worker, now)
}

function reservedRefusals(view: View, bucket: Bucket, worker: WorkerState, now: Now): Refusal[] {
  const hold = new Holds(view, view.reservations.held).on(worker.id)
  if (hold === null || chooseBeside(new Room(worker, new Devices(view)), bucket, hold, now, null) !== null) return []
  const { priority, job } = hold.reservation
  const text = `${worker.facts.name} is kept for a job with priority ${priority} that waited too long; this one has priority ${bucket.priority} and is not sure to end before`
  return [refusal('worker.reserved', text, null, job)]
}
