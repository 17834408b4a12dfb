import type { DependencyKind } from '../dependency.ts'
import type { JobState, Outcome } from '../life.ts'

/** A job and its current or last attempt in one row; JSON columns are text. Times are milliseconds. */
export interface JobRow {
  readonly seq: number
  readonly id: string
  readonly owner: string
  readonly bucket: number
  readonly state: JobState
  readonly name: string
  readonly type: string
  readonly priority: number
  readonly labels: string | null
  readonly spec: string
  readonly submittedAt: number
  readonly startedAt: number | null
  readonly endedAt: number | null
  readonly dueAt: number | null
  readonly reason: string | null
  readonly cancelBy: string | null
  readonly retryOf: string | null
  readonly attempts: number
  readonly failures: number
  readonly lost: number
  readonly attemptEpoch: number | null
  readonly attemptState: string | null
  readonly outcome: Outcome | null
  readonly worker: string | null
  readonly gpus: string | null
  readonly placedAt: number | null
  readonly runningAt: number | null
  readonly attemptEndedAt: number | null
  readonly isolation: string | null
  readonly exitCode: number | null
  readonly signal: string | null
  readonly error: string | null
  readonly note: string | null
  readonly usage: string | null
  readonly result: string | null
  readonly groupId: string | null
  /** Of a task: the job of the session in whose place its last attempt is or was. */
  readonly session: number | null
  /** Of the current or last attempt. */
  readonly containerId: string | null
}

/** A session beside its job; `endsBy` once it was asked to leave. */
export interface SessionRow {
  readonly job: number
  readonly id: string
  readonly owner: string
  readonly preset: string | null
  readonly endsBy: string | null
  readonly endedAt: number | null
}

/** An earlier attempt of a job, or a lost one that still claims its resources. */
export interface AttemptRow {
  readonly job: number
  readonly number: number
  readonly epoch: number
  readonly worker: string
  readonly claimed: number
  readonly body: string
}

export interface BucketRow {
  readonly id: number
  readonly owner: string
  readonly priority: number
  readonly shape: string
  readonly terms: string
  readonly groupId: string | null
}

/** A dependency of a waiting job that is not met yet; gone when it is, or when the job ends. */
export interface EdgeRow {
  readonly job: number
  readonly dependency: number
  readonly kind: DependencyKind
}

/** A held job, while it is held. */
export interface HoldRow {
  readonly job: number
  readonly by: string
}

/** A group and how many of its members, the jobs from `firstSeq` on, are in each state. */
export interface GroupRow extends Readonly<Record<JobState, number>> {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly firstSeq: number
  readonly size: number
  readonly maxParallel: number | null
  readonly retryOf: string | null
  readonly submittedAt: number
  readonly endedAt: number | null
}

export interface LabelRow {
  readonly key: string
  readonly value: string
  readonly job: number
}

export interface CounterRow {
  readonly owner: string
  readonly state: JobState
  readonly n: number
}

export interface IdempotencyRow {
  readonly owner: string
  readonly key: string
  readonly hash: string
  readonly firstSeq: number
  readonly count: number
  readonly at: number
}
