import type { JobRow } from './job-rows.ts'

/**
 * Jobs that were submitted together, wait for a worker and say no more than every job does: all in one write, the
 * values of one after those of the other. A row of each would cost more than reading and deciding it.
 */
export interface QueuedJobs {
  readonly owner: string
  readonly submittedAt: number
  /** In the order of QUEUED_COLUMNS, for each job. */
  readonly cells: readonly (string | number)[]
}

export const QUEUED_COLUMNS = ['seq', 'id', 'bucket', 'name', 'type', 'priority', 'spec'] as const

type QueuedValues = Pick<JobRow, (typeof QUEUED_COLUMNS)[number]>

const WIDTH = QUEUED_COLUMNS.length

/** Tells which they are. */
export function eachQueued({ cells }: QueuedJobs, tell: (seq: number, id: string) => void): void {
  for (let at = 0; at < cells.length; at += WIDTH) tell(cells[at] as number, cells[at + 1] as string)
}

type MoreOfNew = Pick<JobRow, 'state' | 'labels' | 'retryOf' | 'groupId'>

const PLAIN: MoreOfNew = { state: 'queued', labels: null, retryOf: null, groupId: null }

/** Written out, not spread: this runs for every job. */
export function newJobRow(
  { seq, id, bucket, name, type, priority, spec }: QueuedValues,
  owner: string,
  submittedAt: number,
  { state, labels, retryOf, groupId }: MoreOfNew = PLAIN,
): JobRow {
  return {
    seq,
    id,
    owner,
    bucket,
    state,
    name,
    type,
    priority,
    labels,
    spec,
    submittedAt,
    startedAt: null,
    endedAt: null,
    dueAt: null,
    reason: null,
    cancelBy: null,
    retryOf,
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

export function queuedRows(jobs: QueuedJobs): JobRow[] {
  return takeApart(jobs, () => true)[0]
}

/** Those that are named as rows, and the others together, if there are any. */
export function takeApart(
  { owner, submittedAt, cells }: QueuedJobs,
  isNamed: (seq: number) => boolean,
): [rows: JobRow[], rest: QueuedJobs | null] {
  const rows: JobRow[] = []
  const left: (string | number)[] = []
  for (let at = 0; at < cells.length; at += WIDTH) {
    const values = valuesAt(cells, at)
    if (isNamed(values.seq)) rows.push(newJobRow(values, owner, submittedAt))
    else left.push(...cells.slice(at, at + WIDTH))
  }
  return [rows, left.length === 0 ? null : { owner, submittedAt, cells: left }]
}

/** In the order of QUEUED_COLUMNS. */
function valuesAt(cells: QueuedJobs['cells'], at: number): QueuedValues {
  return {
    seq: cells[at] as number,
    id: cells[at + 1] as string,
    bucket: cells[at + 2] as number,
    name: cells[at + 3] as string,
    type: cells[at + 4] as string,
    priority: cells[at + 5] as number,
    spec: cells[at + 6] as string,
  }
}
