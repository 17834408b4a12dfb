import type { ChangeOf, JobRow, RowWrite, SessionRow, Terms } from '@stoker/protocol'
import { isBornWaiting } from './apply-waiting.ts'
import type { NewJob } from './commands.ts'
import { projectCauses } from './project-waiting.ts'
import type { State } from './state.ts'

/** The specs of the jobs a batch submits, by seq: they go to rows only. */
export type Submissions = ReadonlyMap<number, NewJob>

/** New jobs with their labels, causes to wait and inputs, and the key they came with. */
export function projectSubmitted(
  { owner, at, jobs, key }: ChangeOf<'submitted'>,
  state: State,
  specs: Submissions,
): RowWrite[] {
  const rows: RowWrite[] = []
  for (const submitted of jobs) {
    const { seq, bucket } = submitted
    const job = specs.get(seq)
    if (job === undefined) throw new Error(`job ${seq} is submitted without its spec`)
    const { labels, files } = job.spec
    const known = state.buckets.get(bucket)
    const groupId = known?.groupId ?? null
    rows.push({ op: 'insert', table: 'job', row: newJobRow(submitted, job, owner, groupId, at) })
    if (known !== undefined && known.terms.session !== null)
      rows.push({ op: 'put', table: 'session', row: newSessionRow(submitted, owner, known.terms.session) })
    for (const key in labels)
      rows.push({ op: 'insert', table: 'label', row: { key, value: labels[key] ?? '', job: seq } })
    if (isBornWaiting(submitted)) rows.push(...projectCauses(submitted))
    if (files.length > 0)
      for (const sha256 of new Set(files.map(file => file.sha256)))
        rows.push({ op: 'insert', table: 'input', row: { job: seq, sha256, owner } })
  }
  const first = jobs[0]
  if (key !== null && first !== undefined) {
    rows.push({
      op: 'put',
      table: 'idempotency',
      row: { owner, key: key.key, hash: key.hash, firstSeq: first.seq, count: jobs.length, at },
    })
  }
  return rows
}

/** Written out, not spread: this runs for every job of a large batch. */
function newJobRow(
  submitted: ChangeOf<'submitted'>['jobs'][number],
  { spec, specText }: NewJob,
  owner: string,
  groupId: string | null,
  at: number,
): JobRow {
  return {
    seq: submitted.seq,
    id: submitted.id,
    owner,
    bucket: submitted.bucket,
    state: isBornWaiting(submitted) ? 'waiting' : 'queued',
    name: submitted.name,
    type: submitted.type,
    priority: spec.priority,
    labels: labelsText(spec.labels),
    spec: specText,
    submittedAt: at,
    startedAt: null,
    endedAt: null,
    dueAt: null,
    reason: null,
    cancelBy: null,
    retryOf: submitted.retryOf ?? null,
    attempts: 0,
    failures: 0,
    lost: 0,
    attemptEpoch: null,
    attemptState: null,
    outcome: null,
    worker: null,
    gpus: null,
    placedAt: null,
    runningAt: null,
    attemptEndedAt: null,
    isolation: null,
    exitCode: null,
    signal: null,
    error: null,
    note: null,
    usage: null,
    result: null,
    groupId,
    session: null,
    containerId: null,
  }
}

function newSessionRow(
  { seq, id }: ChangeOf<'submitted'>['jobs'][number],
  owner: string,
  { preset }: NonNullable<Terms['session']>,
): SessionRow {
  return { job: seq, id, owner, preset, endsBy: null, endedAt: null }
}

function labelsText(labels: NewJob['spec']['labels']): string | null {
  for (const _ in labels) return JSON.stringify(labels)
  return null
}
