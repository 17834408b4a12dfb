import { type ActiveColumns, activeJob } from '../active-job.ts'
import type { LiveJob, Recovery } from '../port.ts'
import type { Cell } from '../row-keys.ts'
import type { Connection } from './connection.ts'
import { createJournalReader } from './journal.ts'

/** Big enough that asking costs nothing, small enough that a slice dies young: a million jobs take a sixth longer in slices of 10,000. */
const SLICE = 2_000

const COLUMNS = 'seq, bucket, state, attempts, failures, lost, dueAt'
const partOf = (state: LiveJob['state']) =>
  `SELECT ${COLUMNS} FROM job INDEXED BY job_state WHERE state = '${state}' AND seq > ?`
/** A slice comes as one text: handing over seven million values one by one would take longer than reading them. */
export const LIVE_SLICE = `SELECT max(seq) AS last, json_group_array(json_array(${COLUMNS})) AS jobs FROM (
  ${partOf('waiting')} UNION ALL ${partOf('queued')} UNION ALL ${partOf('active')} ORDER BY seq LIMIT ${SLICE}
)`

/** `last` is null behind the last job. */
interface Slice {
  readonly last: number | null
  readonly jobs: string
}

type LiveColumns = readonly [number, number, LiveJob['state'], number, number, number, number | null]

/** Reads all live state; the live jobs from their index alone. */
export function recover(db: Connection, visit: (jobs: readonly LiveJob[]) => void): Recovery {
  visitLive(db, visit)
  const all = (text: string, ...values: readonly Cell[]) => db.prepare(text).all(...values)
  const numberIn = (key: string) => Number(all('SELECT value FROM meta WHERE "key" = ?', key)[0]?.value ?? 0)
  const active: readonly ActiveColumns[] = all(
    `SELECT seq, attemptEpoch, attemptState, worker, gpus, placedAt, runningAt, cancelBy, isolation, session, containerId
      FROM job INDEXED BY job_state WHERE state = 'active' ORDER BY seq`,
  )
  return {
    epoch: numberIn('epoch'),
    lastSeq: Math.max(numberIn('last_seq'), all('SELECT max(seq) AS seq FROM job')[0].seq ?? 0),
    journal: createJournalReader(db).end(),
    buckets: all('SELECT * FROM bucket ORDER BY id'),
    workers: all('SELECT * FROM worker ORDER BY id'),
    tokens: all('SELECT * FROM token ORDER BY id'),
    webhooks: all('SELECT * FROM webhook ORDER BY id'),
    secrets: all('SELECT owner, name, bytes, createdAt, changedAt FROM secret ORDER BY owner, name'),
    counters: all('SELECT * FROM counter ORDER BY owner, state'),
    groups: all('SELECT * FROM jobGroup WHERE endedAt IS NULL ORDER BY id'),
    limits: all('SELECT * FROM ownerLimits ORDER BY owner'),
    schedules: all('SELECT * FROM schedule ORDER BY id'),
    ownerUses: all('SELECT * FROM ownerUse ORDER BY owner'),
    devices: all('SELECT * FROM device ORDER BY uuid'),
    claims: all('SELECT * FROM attempt WHERE claimed = 1 ORDER BY job, number'),
    active: active.map(activeJob),
    edges: all(
      `SELECT edge.job, edge.dependency, edge.kind, job.id, job.state
        FROM edge JOIN job ON job.seq = edge.dependency ORDER BY edge.job, edge.dependency`,
    ),
    holds: all('SELECT * FROM hold ORDER BY job'),
    sessions: all('SELECT * FROM session INDEXED BY session_live WHERE endedAt IS NULL ORDER BY job'),
  }
}

function visitLive(db: Connection, visit: (jobs: readonly LiveJob[]) => void): void {
  const slice = db.prepare(LIVE_SLICE)
  for (let after: number | null = -1; after !== null; ) {
    const { last, jobs }: Slice = slice.get(after, after, after)
    const rows: readonly LiveColumns[] = JSON.parse(jobs)
    visit(rows.map(liveJob))
    after = last
  }
}

function liveJob([seq, bucket, state, attempts, failures, lost, dueAt]: LiveColumns): LiveJob {
  return { seq, bucket, state, attempts, failures, lost, dueAt }
}
