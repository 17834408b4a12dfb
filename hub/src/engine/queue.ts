import type { QueuedJob } from './queued-jobs.ts'
import { dropIfUnused, targetOf } from './sessions.ts'
import type { State } from './state.ts'
import { bucketOf } from './tally.ts'

/** A job stands in its queue: the next plan looks at it, that of workers or that of sessions. */
export function enqueue(state: State, job: QueuedJob): void {
  state.queued.add(job)
  const { target } = bucketOf(state, job.bucket).shape
  if (target === null) state.dirtyBuckets.add(job.bucket)
  else countTask(state, target, job.bucket, 1)
}

export function dequeue(state: State, seq: number): QueuedJob {
  const job = state.queued.remove(seq)
  const { target: name } = bucketOf(state, job.bucket).shape
  if (name === null) return job
  const target = targetOf(state, name)
  target.queued -= 1
  if (state.queued.sizeOf(job.bucket) === 0) target.buckets.delete(job.bucket)
  dropIfUnused(state, name, target)
  return job
}

/** The next plan looks at the bucket. */
export function wakeBucket(state: State, id: number): void {
  const target = state.buckets.get(id)?.shape.target ?? null
  if (target === null) state.dirtyBuckets.add(id)
  else state.dirtyTargets.add(target)
}

/** Used by recovery too, which finds whole queues. A task of a session that is gone waits for nothing. */
export function countTask(state: State, name: string, bucket: number, tasks: number): void {
  const target = targetOf(state, name)
  target.queued += tasks
  target.buckets.add(bucket)
  state.dirtyTargets.add(name)
  for (const seq of target.sessions) {
    const session = state.sessions.get(seq)
    if (session !== undefined) session.isTouched = true
  }
  if (target.sessions.size === 0 && name.startsWith('session:')) state.orphans.add(name)
}
