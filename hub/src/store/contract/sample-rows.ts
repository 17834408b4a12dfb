import {
  type AttemptRow,
  type AuditRow,
  type BucketRow,
  type ChunkRow,
  type DeliveryRow,
  type DeviceRow,
  type GroupRow,
  type JobRow,
  newJobRow,
  type RowWrite,
  type ScheduleRow,
  type SecretRow,
  type SessionRow,
  type TokenRow,
  type WebhookRow,
  type WorkerRow,
} from '@stoker/protocol'
import type { Commit } from '../port.ts'

/** An id as the hub makes them, told by its seq: time first, then digits that look random but end differently for each seq. */
export function idOf(seq: number): string {
  const end = ((seq * 2_654_435_761) % 2 ** 32).toString(16).padStart(8, '0')
  return `01890000-0000-7000-8000-0000${end}`
}

export function aJob(seq: number, over: Partial<JobRow> = {}): JobRow {
  const told = { seq, id: idOf(seq), bucket: 1, name: 'train', type: 'process', priority: 0, spec: `{"seq":${seq}}` }
  return { ...newJobRow(told, 'ada', 1_000 + seq), ...over }
}

/** The columns of a job whose first attempt runs. */
export const RUNNING: Partial<JobRow> = {
  state: 'active',
  attempts: 1,
  attemptEpoch: 1,
  attemptState: 'running',
  worker: 'w1',
  gpus: '["GPU-1"]',
  placedAt: 5,
  runningAt: 6,
  isolation: 'none',
  containerId: 'c0ffee',
}

export function anAttempt(job: number, number: number, over: Partial<AttemptRow> = {}): AttemptRow {
  return { job, number, epoch: 1, worker: 'w1', claimed: 0, body: '{}', ...over }
}

export function aChunk(job: number, offset: number, over: Partial<ChunkRow> = {}): ChunkRow {
  return { job, epoch: 1, attempt: 1, stream: 1, offset, length: 10, segment: 1, position: 0, at: 1, line: 0, ...over }
}

export const A_BUCKET: BucketRow = { id: 1, owner: 'ada', priority: 0, shape: '{}', terms: '{}', groupId: null }

export function aGroup(firstSeq: number, over: Partial<GroupRow> = {}): GroupRow {
  return {
    ...{ id: idOf(firstSeq), owner: 'ada', name: 'sweep', firstSeq, size: 2, maxParallel: null, retryOf: null },
    ...{ submittedAt: 1, endedAt: null, waiting: 0, queued: 2, active: 0, succeeded: 0, failed: 0 },
    ...{ canceled: 0, timed_out: 0 },
    ...over,
  }
}

export const A_SCHEDULE: ScheduleRow = {
  id: 's1',
  owner: 'ada',
  name: 'nightly',
  cron: '0 3 * * *',
  timezone: 'UTC',
  overlap: 'skip',
  catchUp: 'none',
  enabled: 1,
  spec: '{}',
  createdAt: 1,
  nextAt: 2,
  runs: 0,
  lastAt: null,
  lastOutcome: null,
  lastReason: null,
  lastSeq: null,
  lastJob: null,
  lastGroup: null,
}

export const A_DEVICE: DeviceRow = { uuid: 'GPU-1', reason: 'hot', quarantinedBy: 'ada', quarantinedAt: 7 }

export const A_TOKEN: TokenRow = {
  id: 't1',
  hash: 'h',
  role: 'admin',
  owner: 'ada',
  label: 'first',
  createdAt: 1,
  expiresAt: null,
  usedBy: null,
}

export const A_WEBHOOK: WebhookRow = {
  id: 'h1',
  owner: 'ada',
  url: 'https://example.org/',
  on: '["failed"]',
  labels: '{}',
  secret: 'sealed',
  createdAt: 1,
}

export function aDelivery(webhook: string, job: number, over: Partial<DeliveryRow> = {}): DeliveryRow {
  const told = { endedAt: null, status: null, error: null }
  return { webhook, job, state: 'pending', tries: 0, dueAt: job, createdAt: 1, ...told, ...over }
}

export const A_SESSION: SessionRow = {
  job: 1,
  id: idOf(1),
  owner: 'ada',
  preset: 'llama/inference',
  endsBy: 'manual',
  endedAt: null,
}

export const A_SECRET: SecretRow = { owner: 'ada', name: 'A', bytes: 3, sealed: 'x', createdAt: 1, changedAt: 2 }

export function anEntry(n: number, over: Partial<AuditRow> = {}): AuditRow {
  const by = { token: 't1', label: '', owner: 'ada', role: 'admin', address: '127.0.0.1' }
  return { id: idOf(n), at: n, ...by, action: 'POST /x', target: 'w', details: '{}', status: null, ...over }
}

export const A_WORKER: WorkerRow = {
  id: 'w1',
  name: 'rig',
  version: '0.1.0',
  owner: 'ada',
  tags: '[]',
  maxJobs: 4,
  window: 8,
  cpusMilli: 4_000,
  memoryMb: 8_192,
  hardware: '{}',
  abilities: '{}',
  secretHash: 's',
  bootId: 'b',
  registeredAt: 1,
  draining: 0,
  batch: 0,
  dialect: null,
  gatewayNote: null,
}

export function insertJob(row: JobRow): RowWrite {
  return { op: 'insert', table: 'job', row }
}

/** Rows without a journal row. */
export function rowsOnly(...rows: readonly RowWrite[]): Commit {
  return { journal: null, rows }
}

/** The nth journal row, with rows. */
export function journaled(n: number, rows: readonly RowWrite[] = [], at = n * 10): Commit {
  return { journal: { n, at, hash: `hash-${n}`, body: `{"n":${n}}` }, rows }
}
