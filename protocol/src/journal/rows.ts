import type { JobState } from '../life.ts'
import type { ArtifactRow, BlobRow, ChunkRow, InputRow, SealedRow } from './content-rows.ts'
import type { DeviceRow, MetaRow, WorkerRow } from './fleet-rows.ts'
import type {
  AttemptRow,
  BucketRow,
  CounterRow,
  EdgeRow,
  GroupRow,
  HoldRow,
  IdempotencyRow,
  JobRow,
  LabelRow,
  SessionRow,
} from './job-rows.ts'
import type {
  AuditRow,
  DeliveryRow,
  OwnerLimitsRow,
  OwnerUseRow,
  ScheduleRow,
  SecretRow,
  TokenRow,
  WebhookRow,
} from './owner-rows.ts'

import type { QueuedJobs } from './queued-jobs.ts'

export type * from './content-rows.ts'
export type * from './fleet-rows.ts'
export type * from './job-rows.ts'
export type * from './owner-rows.ts'

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
  readonly session: { readonly row: SessionRow; readonly key: { readonly job: number } }
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
export type RowWrite =
  | {
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
  | QueueWrite

/** Inserts all of them. */
interface QueueWrite {
  readonly op: 'queue'
  readonly table: 'job'
  readonly jobs: QueuedJobs
}
