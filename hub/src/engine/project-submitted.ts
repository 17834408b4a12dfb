import type { ChangeOf, JobRow, RowWrite } from '@stoker/protocol'
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
    const { seq, id, bucket, name, type, retryOf } = submitted
    const job = specs.get(seq)
    if (job === undefined) throw new Error(`job ${seq} is submitted without its spec`)
    const labels = Object.entries(job.spec.labels)
    const facts = {
      seq,
      id,
      owner,
      bucket,
      name,
      type,
      submittedAt: at,
      retryOf: retryOf ?? null,
      groupId: state.buckets.get(bucket)?.groupId ?? null,
      priority: job.spec.priority,
      labels: labels.length === 0 ? null : JSON.stringify(job.spec.labels),
      spec: job.specText,
    }
    const isWaiting = isBornWaiting(submitted)
    rows.push({ op: 'insert', table: 'job', row: newJobRow(facts, isWaiting ? 'waiting' : 'queued') })
    for (const [labelKey, value] of labels)
      rows.push({ op: 'insert', table: 'label', row: { key: labelKey, value, job: seq } })
    if (isWaiting) rows.push(...projectCauses(submitted))
    for (const sha256 of new Set(job.spec.files.map(file => file.sha256)))
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

type Told = 'seq' | 'id' | 'owner' | 'bucket' | 'name' | 'type' | 'priority' | 'labels' | 'spec' | 'submittedAt'
type NewJobFacts = Pick<JobRow, Told | 'retryOf' | 'groupId'>

/** Written out, not spread: this runs for every job of a large batch. */
function newJobRow(facts: NewJobFacts, state: JobRow['state']): JobRow {
  return {
    seq: facts.seq,
    id: facts.id,
    owner: facts.owner,
    bucket: facts.bucket,
    state,
    name: facts.name,
    type: facts.type,
    priority: facts.priority,
    labels: facts.labels,
    spec: facts.spec,
    submittedAt: facts.submittedAt,
    startedAt: null,
    endedAt: null,
    dueAt: null,
    reason: null,
    cancelBy: null,
    retryOf: facts.retryOf,
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
    groupId: facts.groupId,
  }
}
