import type { OwnerLimits } from '../api/owners.ts'
import type { FireOutcome, Schedule } from '../api/schedules.ts'
import type { Role } from '../api/tokens.ts'
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

export interface WorkerRow {
  readonly id: string
  readonly name: string
  readonly version: string
  readonly owner: string
  readonly tags: string
  readonly maxJobs: number
  readonly window: number
  readonly cpusMilli: number
  readonly memoryMb: number
  readonly hardware: string
  readonly abilities: string
  readonly secretHash: string
  readonly bootId: string
  readonly registeredAt: number
  readonly draining: number
  readonly batch: number
}

export interface TokenRow {
  readonly id: string
  readonly hash: string
  readonly role: Role
  readonly owner: string
  readonly label: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly usedBy: string | null
}

export interface WebhookRow {
  readonly id: string
  readonly owner: string
  readonly url: string
  readonly on: string
  readonly labels: string
  readonly secret: string
  readonly createdAt: number
}

/** The end of a job that is, or was, to be told to a webhook. */
export interface DeliveryRow {
  readonly webhook: string
  readonly job: number
  readonly state: 'pending' | 'delivered' | 'failed'
  readonly tries: number
  readonly dueAt: number | null
  readonly createdAt: number
  readonly endedAt: number | null
  readonly status: number | null
  readonly error: string | null
}

/** `sealed` is the encrypted value, with the id of the key it was sealed with. */
export interface SecretRow {
  readonly owner: string
  readonly name: string
  readonly bytes: number
  readonly sealed: string
  readonly createdAt: number
  readonly changedAt: number
}

export interface AuditRow {
  readonly id: string
  readonly at: number
  readonly token: string
  readonly label: string
  readonly owner: string
  readonly role: string
  readonly address: string
  readonly action: string
  readonly target: string
  readonly details: string
  readonly status: number | null
}

export interface IdempotencyRow {
  readonly owner: string
  readonly key: string
  readonly hash: string
  readonly firstSeq: number
  readonly count: number
  readonly at: number
}

export interface CounterRow {
  readonly owner: string
  readonly state: JobState
  readonly n: number
}

/** What an owner had of the fleet lately: the average of its dominant share, where an hour ago counts half as much as now. */
export interface OwnerUseRow {
  readonly owner: string
  readonly average: number
  readonly at: number
}

/** A device that is kept from all jobs. */
export interface DeviceRow {
  readonly uuid: string
  readonly reason: string
  readonly quarantinedBy: string
  readonly quarantinedAt: number
}

/** Where a piece of output lies; `line` counts the newlines of its stream before it. */
export interface ChunkRow {
  readonly job: number
  readonly epoch: number
  readonly attempt: number
  readonly stream: number
  readonly offset: number
  readonly length: number
  readonly segment: number
  readonly position: number
  readonly at: number
  readonly line: number
}

/** Where a finished attempt's whole output lies, compressed. */
export interface SealedRow {
  readonly job: number
  readonly epoch: number
  readonly attempt: number
  readonly pack: number
  readonly position: number
  readonly length: number
}

export interface LabelRow {
  readonly key: string
  readonly value: string
  readonly job: number
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

export interface OwnerLimitsRow extends OwnerLimits {
  readonly owner: string
}

export interface ScheduleRow {
  readonly id: string
  readonly owner: string
  readonly name: string
  readonly cron: string
  readonly timezone: string
  readonly overlap: Schedule['overlap']
  readonly catchUp: Schedule['catchUp']
  readonly enabled: number
  readonly spec: string
  readonly createdAt: number
  readonly nextAt: number | null
  readonly runs: number
  readonly lastAt: number | null
  readonly lastOutcome: FireOutcome | null
  readonly lastReason: string | null
  readonly lastSeq: number | null
  readonly lastJob: string | null
  readonly lastGroup: string | null
}

/** Content an owner has, whole and synced; `usedAt` is when someone last stored it or built on it. */
export interface BlobRow {
  readonly owner: string
  readonly sha256: string
  readonly size: number
  readonly at: number
  readonly usedAt: number
}

/** Content a job's spec names; the row goes when the job has ended and its content may be forgotten. */
export interface InputRow {
  readonly job: number
  readonly sha256: string
  readonly owner: string
}

/** A file an attempt left. */
export interface ArtifactRow {
  readonly job: number
  readonly attempt: number
  readonly path: string
  readonly owner: string
  readonly sha256: string
  readonly size: number
  readonly executable: number
}

export interface MetaRow {
  readonly key: string
  readonly value: string
}

export interface Tables {
  readonly job: { readonly row: JobRow; readonly key: { readonly seq: number } }
  readonly attempt: { readonly row: AttemptRow; readonly key: { readonly job: number; readonly number: number } }
  readonly bucket: { readonly row: BucketRow; readonly key: { readonly id: number } }
  readonly worker: { readonly row: WorkerRow; readonly key: { readonly id: string } }
  readonly token: { readonly row: TokenRow; readonly key: { readonly id: string } }
  readonly webhook: { readonly row: WebhookRow; readonly key: { readonly id: string } }
  readonly delivery: { readonly row: DeliveryRow; readonly key: { readonly webhook: string; readonly job: number } }
  readonly secret: { readonly row: SecretRow; readonly key: { readonly owner: string; readonly name: string } }
  readonly audit: { readonly row: AuditRow; readonly key: { readonly id: string } }
  readonly idempotency: { readonly row: IdempotencyRow; readonly key: { readonly owner: string; readonly key: string } }
  readonly counter: { readonly row: CounterRow; readonly key: { readonly owner: string; readonly state: JobState } }
  readonly ownerUse: { readonly row: OwnerUseRow; readonly key: { readonly owner: string } }
  readonly device: { readonly row: DeviceRow; readonly key: { readonly uuid: string } }
  readonly chunk: {
    readonly row: ChunkRow
    readonly key: {
      readonly job: number
      readonly epoch: number
      readonly attempt: number
      readonly stream: number
      readonly offset: number
    }
  }
  readonly sealed: {
    readonly row: SealedRow
    readonly key: { readonly job: number; readonly epoch: number; readonly attempt: number }
  }
  readonly label: { readonly row: LabelRow; readonly key: LabelRow }
  readonly edge: { readonly row: EdgeRow; readonly key: { readonly job: number; readonly dependency: number } }
  readonly hold: { readonly row: HoldRow; readonly key: { readonly job: number } }
  readonly jobGroup: { readonly row: GroupRow; readonly key: { readonly id: string } }
  readonly ownerLimits: { readonly row: OwnerLimitsRow; readonly key: { readonly owner: string } }
  readonly schedule: { readonly row: ScheduleRow; readonly key: { readonly id: string } }
  readonly blob: { readonly row: BlobRow; readonly key: { readonly owner: string; readonly sha256: string } }
  readonly input: { readonly row: InputRow; readonly key: { readonly job: number; readonly sha256: string } }
  readonly artifact: {
    readonly row: ArtifactRow
    readonly key: { readonly job: number; readonly attempt: number; readonly path: string }
  }
  readonly meta: { readonly row: MetaRow; readonly key: { readonly key: string } }
}
export type TableName = keyof Tables

/** What the store writes without knowing what it means. `put` inserts or replaces by key; `delete` may name a prefix of the key. */
export type RowWrite = {
  [T in TableName]:
    | { readonly op: 'insert' | 'put'; readonly table: T; readonly row: Tables[T]['row'] }
    | {
        readonly op: 'update'
        readonly table: T
        readonly key: Tables[T]['key']
        readonly set: Partial<Tables[T]['row']>
      }
    | { readonly op: 'delete'; readonly table: T; readonly key: Partial<Tables[T]['key']> }
}[TableName]
