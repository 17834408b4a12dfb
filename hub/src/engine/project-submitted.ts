import { type ChangeOf, newJobRow, type RowWrite, type SessionRow, type Terms } from '@stoker/protocol'
import { isBornWaiting } from './apply-waiting.ts'
import type { NewJob } from './commands.ts'
import { projectCauses } from './project-waiting.ts'
import type { Bucket, State } from './state.ts'

/** The specs of the jobs a batch submits, by seq: they go to rows only. */
export type Submissions = ReadonlyMap<number, NewJob>

type SubmittedJob = ChangeOf<'submitted'>['jobs'][number]

/** Of so many some are hardly placed in the same batch; of fewer each has a row of its own, which then says where it went. */
const MANY = 128

/** New jobs with their labels, causes to wait and inputs, and the key they came with. */
export function projectSubmitted(
  { owner, at, jobs, key }: ChangeOf<'submitted'>,
  state: State,
  specs: Submissions,
): RowWrite[] {
  const rows: RowWrite[] = []
  const together: (string | number)[] = []
  for (const submitted of jobs) {
    const { seq, id, bucket, name, type } = submitted
    const job = specs.get(seq)
    if (job === undefined) throw new Error(`job ${seq} is submitted without its spec`)
    const { labels, files, priority } = job.spec
    const known = state.buckets.get(bucket)
    if (jobs.length >= MANY && isPlain(submitted, job, known)) {
      together.push(seq, id, bucket, name, type, priority, job.specText)
      continue
    }
    const row = newJobRow({ seq, id, bucket, name, type, priority, spec: job.specText }, owner, at, {
      state: isBornWaiting(submitted) ? 'waiting' : 'queued',
      labels: labelsText(labels),
      retryOf: submitted.retryOf ?? null,
      groupId: known?.groupId ?? null,
    })
    rows.push({ op: 'insert', table: 'job', row })
    if (known !== undefined && known.terms.session !== null)
      rows.push({ op: 'put', table: 'session', row: newSessionRow(submitted, owner, known.terms.session) })
    for (const key in labels)
      rows.push({ op: 'insert', table: 'label', row: { key, value: labels[key] ?? '', job: seq } })
    if (isBornWaiting(submitted)) rows.push(...projectCauses(submitted))
    if (files.length > 0)
      for (const sha256 of new Set(files.map(file => file.sha256)))
        rows.push({ op: 'insert', table: 'input', row: { job: seq, sha256, owner } })
  }
  if (together.length > 0) rows.push({ op: 'queue', table: 'job', jobs: { owner, submittedAt: at, cells: together } })
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

/** Nothing has to be written of it but what every job has. */
function isPlain(submitted: SubmittedJob, { spec }: NewJob, bucket: Bucket | undefined): boolean {
  if (bucket === undefined || bucket.groupId !== null || bucket.terms.session !== null) return false
  if ((submitted.retryOf ?? null) !== null || isBornWaiting(submitted)) return false
  return spec.files.length === 0 && labelsText(spec.labels) === null
}

function newSessionRow(
  { seq, id }: SubmittedJob,
  owner: string,
  { preset }: NonNullable<Terms['session']>,
): SessionRow {
  return { job: seq, id, owner, preset, endsBy: null, endedAt: null }
}

function labelsText(labels: NewJob['spec']['labels']): string | null {
  for (const _ in labels) return JSON.stringify(labels)
  return null
}
