import type {
  ArtifactRow,
  AttemptRow,
  AuditRow,
  BlobRow,
  BucketRow,
  ChunkRow,
  CounterRow,
  DeliveryRow,
  DeviceRow,
  EdgeRow,
  GroupRow,
  HoldRow,
  IdempotencyRow,
  InputRow,
  JobRow,
  JobState,
  OwnerLimitsRow,
  OwnerUseRow,
  RowWrite,
  ScheduleRow,
  SealedRow,
  SecretRow,
  SessionRow,
  Tables,
  TokenRow,
  WebhookRow,
  WorkerRow,
} from '@stoker/protocol'

/** One durable step: the journal row (absent when nothing happened that history must know) and the row writes, all or nothing. */
export interface Commit {
  readonly journal: { readonly n: number; readonly at: number; readonly hash: string; readonly body: string } | null
  readonly rows: readonly RowWrite[]
}

/** A job that has not ended, as recovery needs it: no spec, no text. */
export interface LiveJob {
  readonly seq: number
  readonly bucket: number
  readonly state: 'waiting' | 'queued' | 'active'
  readonly attempts: number
  readonly failures: number
  readonly lost: number
  readonly dueAt: number | null
}

/** The attempt columns of an active job, as recovery needs them. */
export interface ActiveJob {
  readonly seq: number
  readonly attemptEpoch: number
  readonly attemptState: 'leased' | 'starting' | 'running' | 'stopping'
  readonly worker: string
  readonly gpus: readonly string[]
  readonly placedAt: number
  readonly runningAt: number | null
  readonly cancelBy: string | null
  readonly isolation: string | null
  readonly session: number | null
  readonly containerId: string | null
}

/** An edge with the job at its other end, which may have ended: its dependents are told a part at a time. */
interface RecoveredEdge extends EdgeRow {
  readonly id: string
  readonly state: JobState
}

/** A job by its id, as a submit that depends on it needs it. */
export interface JobRef {
  readonly id: string
  readonly seq: number
  readonly owner: string
  readonly state: JobState
}

/** All live state; queued jobs arrive in order of seq, in slices, so that a million of them never stand in memory as objects. */
export interface Recovery {
  readonly epoch: number
  readonly lastSeq: number
  readonly journal: JournalEnd
  readonly buckets: readonly BucketRow[]
  readonly workers: readonly WorkerRow[]
  readonly tokens: readonly TokenRow[]
  readonly webhooks: readonly WebhookRow[]
  readonly secrets: readonly Omit<SecretRow, 'sealed'>[]
  readonly counters: readonly CounterRow[]
  /** Those that have not ended. */
  readonly groups: readonly GroupRow[]
  readonly limits: readonly OwnerLimitsRow[]
  readonly schedules: readonly ScheduleRow[]
  readonly ownerUses: readonly OwnerUseRow[]
  readonly devices: readonly DeviceRow[]
  readonly claims: readonly AttemptRow[]
  readonly active: readonly ActiveJob[]
  /** In order of job and dependency. */
  readonly edges: readonly RecoveredEdge[]
  readonly holds: readonly HoldRow[]
  /** Those that have not ended. */
  readonly sessions: readonly SessionRow[]
}

export interface JournalEnd {
  readonly n: number
  readonly hash: string
}

export interface JournalRow {
  readonly n: number
  readonly at: number
  readonly hash: string
  readonly body: string
}

export interface JobFilter {
  readonly owner: string | null
  readonly states: readonly JobState[] | null
  readonly type: string | null
  readonly worker: string | null
  readonly name: string | null
  readonly labels: readonly { readonly key: string; readonly value: string }[]
  /** Only jobs from seq `from` on and before `to`, such as the members of a group. */
  readonly seqs?: { readonly from: number; readonly to: number } | undefined
}

/** Part of a list, newest first. */
export interface Page {
  readonly rows: readonly JobRow[]
  /** The list goes on before this seq; null at its end. A page may be short, even empty, and still go on. */
  readonly next: number | null
}

/** Part of the list of groups, newest first; it goes on before the first seq `next`. */
interface GroupPage {
  readonly rows: readonly GroupRow[]
  readonly next: number | null
}

export interface SessionFilter {
  readonly owner: string | null
  readonly preset: string | null
  /** Only those that have ended, or only those that have not. */
  readonly ended: boolean | null
}

/** Part of the list of sessions, newest first; it goes on before the job `next`. */
interface SessionPage {
  readonly rows: readonly SessionRow[]
  readonly next: number | null
}

/** Reads that may run beside the writer. Pages are newest first and never count. */
export interface Queries {
  jobById(id: string): Promise<JobRow | null>
  /** In the order asked; a job that is not there is left out. */
  jobsBySeq(seqs: readonly number[]): Promise<readonly JobRow[]>
  /** The id of the one job whose id ends with these hex digits; null if none, 'many' if several or if fewer than 4 digits are given. */
  jobByIdEnd(end: string): Promise<string | null | 'many'>
  /** Looks at a bounded number of jobs (see page-bounds.ts), however rare the matches are. */
  page(filter: JobFilter, beforeSeq: number | null, limit: number): Promise<Page>
  groupById(id: string): Promise<GroupRow | null>
  /** As for jobs. */
  groupByIdEnd(end: string): Promise<string | null | 'many'>
  groups(owner: string | null, beforeSeq: number | null, limit: number): Promise<GroupPage>
  sessions(filter: SessionFilter, beforeJob: number | null, limit: number): Promise<SessionPage>
  schedule(id: string): Promise<ScheduleRow | null>
  attemptsOf(job: number): Promise<readonly AttemptRow[]>
  /** Specs and ids as an offer needs them, in the order asked; a job that is not there is left out. */
  offers(
    seqs: readonly number[],
  ): Promise<readonly { readonly seq: number; readonly id: string; readonly spec: string }[]>
  journalAfter(n: number, limit: number): Promise<readonly JournalRow[]>
  /** The oldest journal row still kept, or null when the journal is empty. */
  journalFloor(): Promise<JournalEnd | null>
  /** The last journal row that was forgotten, whose hash the oldest kept row continues; n 0 and an empty hash when none was. */
  journalBoundary(): Promise<JournalEnd>
  /** Whether anything is known of an attempt's output; cheap, as it is asked for every attempt's first bytes. */
  hasOutput(job: number, epoch: number, attempt: number): Promise<boolean>
  chunks(job: number, epoch: number, attempt: number): Promise<readonly ChunkRow[]>
  sealed(job: number, epoch: number, attempt: number): Promise<SealedRow | null>
  /** Attempts whose chunks lie in the segment; a lost attempt that still claims its resources has not ended. */
  segmentAttempts(
    segment: number,
  ): Promise<
    readonly { readonly job: number; readonly epoch: number; readonly attempt: number; readonly ended: boolean }[]
  >
  /** What is still to be told to a webhook, due first. */
  pendingDeliveries(webhook: string, limit: number): Promise<readonly DeliveryRow[]>
  /** What was or is to be told to a webhook, of the newest jobs first; before a job when one is named. */
  deliveries(webhook: string, beforeJob: number | null, limit: number): Promise<readonly DeliveryRow[]>
  secret(owner: string, name: string): Promise<SecretRow | null>
  /** Newest first. */
  auditBefore(id: string | null, limit: number): Promise<readonly AuditRow[]>
  /** In no order; content the owner does not have is left out. */
  blobs(owner: string, hashes: readonly string[]): Promise<readonly BlobRow[]>
  /** What each owner has, summed up; walks all content, for a start. */
  blobUse(): Promise<readonly { readonly owner: string; readonly bytes: number }[]>
  /** Artifacts of an attempt in the order of their paths, those behind `after`. */
  artifacts(job: number, attempt: number, after: string, limit: number): Promise<readonly ArtifactRow[]>
  artifact(job: number, attempt: number, path: string): Promise<ArtifactRow | null>
  artifactUse(job: number, attempt: number): Promise<{ readonly count: number; readonly bytes: number }>
  /** Jobs with rows in the table that ended before a time, in order of seq, those behind `after`. */
  expired(table: ScanTable, endedBefore: number, after: number, limit: number): Promise<readonly Expired[]>
  /** Looks at so many groups behind a first seq and tells which of them ended before a time and have no job left; `next` is null where the rest is younger. */
  emptyGroups(endedBefore: number, afterSeq: number, look: number): Promise<EmptyGroups>
  /** Inputs of ended jobs, in order of seq. */
  endedInputs(limit: number): Promise<readonly InputRow[]>
  /** Looks at so many contents last used before a time, behind a place, and tells which of them nothing refers to. */
  unusedBlobs(usedBefore: number, after: BlobPlace | null, look: number): Promise<UnusedBlobs>
  /** Those of the contents that nothing refers to. */
  unreferred(rows: readonly BlobRow[]): Promise<readonly BlobRow[]>
  /** All content in order of owner and hash, behind a key. */
  blobsAfter(owner: string, sha256: string, limit: number): Promise<readonly BlobRow[]>
  /** Rows of jobs with a greater seq than `after`, in key order: `limit` of them and then the rest of the last job, so the next slice starts after that job. */
  scan<T extends ScanTable>(table: T, after: number, limit: number): Promise<readonly Tables[T]['row'][]>
}

export type ScanTable = 'job' | 'attempt' | 'chunk' | 'sealed' | 'artifact'

/** What a job that ended long ago has in a table: how many rows, and the bytes they speak of. */
export interface Expired {
  readonly job: number
  readonly count: number
  readonly bytes: number
}

/** Groups by id, and behind which first seq to go on. */
export interface EmptyGroups {
  readonly ids: readonly string[]
  readonly next: number | null
}

/** A place in the order of last use. */
export type BlobPlace = Pick<BlobRow, 'usedAt' | 'owner' | 'sha256'>

interface UnusedBlobs {
  readonly rows: readonly BlobRow[]
  /** Where to go on; null at the end. */
  readonly next: BlobPlace | null
}

export interface Store {
  readonly queries: Queries
  /** Durable when it resolves; commits become durable in the order of the calls. An update of a row that is not there and a journal row that does not follow the last one reject. Rejects with DiskFull when nothing was written for lack of space; any other rejection leaves the outcome unknown. */
  append(commit: Commit): Promise<void>
  /** The last journal row, forgotten ones included; n 0 and an empty hash before the first. */
  journalEnd(): Promise<JournalEnd>
  /** Visits live jobs in order of seq, in slices. */
  recover(visit: (jobs: readonly LiveJob[]) => void): Promise<Recovery>
  idempotency(owner: string, key: string): Promise<IdempotencyRow | null>
  /** In the order asked; a job that is not there is left out. */
  jobRefs(ids: readonly string[]): Promise<readonly JobRef[]>
  /** Forgets idempotency keys and journal rows older than the given times; the hash of the last forgotten row stays known. */
  prune(limits: { readonly keysBefore: number; readonly journalBefore: number }): Promise<void>
  /** A consistent copy while the store goes on. */
  backup(toFile: string): Promise<void>
  close(): Promise<void>
}

/** The disk has no room: nothing of the commit was written. */
export class DiskFull extends Error {
  constructor(cause: unknown) {
    super('the disk is full: the commit was not written', { cause })
    this.name = 'DiskFull'
  }
}

/** The store cannot be opened as it is; the message says what was found, what is allowed and what to do. */
export class StoreUnusable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'StoreUnusable'
  }
}
