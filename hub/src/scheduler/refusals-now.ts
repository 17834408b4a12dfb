import type { Bucket, Now, WorkerState } from '../engine/state.ts'
import { busyRefusals } from './busy.ts'
import { Devices } from './devices.ts'
import { doorRefusals } from './door.ts'
import { chooseBeside, Holds } from './holds.ts'
import { limitReason } from './limits.ts'
import type { View } from './policy.ts'
import { type Refusal, refusal } from './refusal.ts'
import { Room } from './room.ts'

/** Tells every reason why a job of a bucket does not start on a worker at this moment, of a worker that could run it; none means that the next pass may place it there. */
export function refusalsNow(view: View, bucket: Bucket, now: Now): (worker: WorkerState) => readonly Refusal[] {
  const limit = limitReason(view, bucket)
  const limits = limit === null ? [] : [refusal('owner.limit', limit)]
  const devices = new Devices(view)
  const holds = new Holds(view, view.reservations.held)
  return worker => {
    const doors = doorRefusals(worker, bucket.id, now)
    const busy = busyRefusals(devices, bucket.shape, worker)
    if (limits.length + doors.length + busy.length > 0) return [...limits, ...doors, ...busy]
    const hold = holds.on(worker.id)
    if (hold === null || chooseBeside(new Room(worker, devices), bucket, hold, now, null) !== null) return []
    const { priority, job } = hold.reservation
    const text = `${worker.facts.name} is kept for a job with priority ${priority} that waited too long; this one has priority ${bucket.priority} and is not sure to end before`
    return [refusal('worker.reserved', text, null, job)]
  }
}
