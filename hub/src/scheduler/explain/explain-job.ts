import type { StartingChange } from '@stoker/protocol'
import type { Bucket, Now, State } from '../../engine/state.ts'
import { FitByClass } from '../fit.ts'
import { limitReason } from '../limits.ts'
import type { Policy } from '../policy.ts'
import { releaseChange, startingChanges } from './changes.ts'
import { explainTask } from './explain-task.ts'
import { positionOf } from './position.ts'
import { predictStart, type StartTimes } from './predict-start.ts'
import { groupReasons, type Reason } from './reasons.ts'
import { workerReasons } from './worker-reasons.ts'

/** What live state says about a job that has not ended. */
export interface ExplainedJob {
  readonly bucket: Bucket
  /** Workers that could run it at some time, and all that are known. */
  readonly couldRun: number
  readonly workers: number
  readonly reasons: readonly Reason[]
  readonly position: { readonly ahead: number; readonly isExact: boolean } | null
  readonly start: StartTimes | null
  readonly changes: readonly StartingChange[]
  /** In place of the one that workers and reasons make. */
  readonly summary?: string | undefined
}

/** Null for a job that is not live. A question only: state stays as it is. */
export function explainJob(state: State, policy: Policy, job: number, now: Now): ExplainedJob | null {
  const queued = state.queued.get(job)
  if (queued !== null && bucketOf(state, queued.bucket).shape.target !== null)
    return explainTask(state, job, bucketOf(state, queued.bucket), now)
  if (queued !== null) return explainQueued(state, policy, job, bucketOf(state, queued.bucket), now)
  const active = state.active.get(job)
  if (active !== undefined) return { ...NOTHING, ...counts(state, bucketOf(state, active.bucket)) }
  const waiting = state.waiting.get(job)
  return waiting === undefined ? null : explainWaiting(state, policy, job, now)
}

const NOTHING = { reasons: [], position: null, start: null, changes: [] }

function explainQueued(state: State, policy: Policy, job: number, bucket: Bucket, now: Now): ExplainedJob {
  const found = workerReasons(state, bucket, now)
  const suited = found.filter(({ never }) => never.length === 0).length
  const limit = limitReason(state, bucket)
  const position = positionOf(state, job, bucket, now)
  return {
    bucket,
    couldRun: suited,
    workers: found.length,
    reasons: groupReasons(found, limit),
    position: suited === 0 ? null : { ahead: position.total, isExact: position.isExact },
    start: predictStart(state, bucket, position, now),
    changes: startingChanges({ state, policy, job, bucket, now }, found, limit !== null),
  }
}

/** Busy workers are no reason yet; that none could ever run it is one already. */
function explainWaiting(state: State, policy: Policy, job: number, now: Now): ExplainedJob | null {
  const waiting = state.waiting.get(job)
  if (waiting === undefined) return null
  const bucket = bucketOf(state, waiting.bucket)
  const counted = counts(state, bucket)
  if (bucket.shape.target !== null) return { ...NOTHING, ...counted }
  const found = counted.couldRun > 0 ? [] : workerReasons(state, bucket, now)
  const isOnlyHeld = waiting.dueAt === null && !state.edges.has(job)
  const asked = { state, policy, job, bucket, now }
  return {
    ...counted,
    reasons: groupReasons(found, null),
    position: null,
    start: null,
    changes: isOnlyHeld && waiting.heldBy !== null ? releaseChange(asked, waiting.heldBy) : [],
  }
}

function counts(state: State, bucket: Bucket): Pick<ExplainedJob, 'bucket' | 'couldRun' | 'workers'> {
  let suited = 0
  const fit = new FitByClass(bucket.shape)
  for (const worker of state.workers.values()) if (fit.with(worker)) suited += 1
  return { bucket, couldRun: suited, workers: state.workers.size }
}

function bucketOf(state: State, id: number): Bucket {
  const bucket = state.buckets.get(id)
  if (bucket === undefined) throw new Error(`bucket ${id} is not known`)
  return bucket
}
