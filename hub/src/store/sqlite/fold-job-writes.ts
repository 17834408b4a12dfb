import { type JobRow, type RowWrite, takeApart } from '@stoker/protocol'
import { type Cells, cellsOf } from '../row-keys.ts'

type JobAdd = RowWrite & { readonly op: 'insert' | 'put'; readonly table: 'job' }
const NOBODY: ReadonlySet<number> = new Set()

type Queue = RowWrite & { readonly op: 'queue' }
type JobUpdate = RowWrite & { readonly op: 'update'; readonly table: 'job' }

/**
 * The same writes with each job touched once where that changes nothing: a commit often submits, places and ends one
 * job, and one written row costs about two thirds of three. What cannot be folded safely (a wrong write, a changed id, a put, a
 * delete) stays where it is, and nothing is folded across it.
 */
export function foldJobWrites(rows: readonly RowWrite[]): readonly RowWrite[] {
  const folded: RowWrite[] = []
  const touched = rows.some(({ op }) => op === 'queue') ? touchedJobs(rows) : NOBODY
  /** Where a job stands in the folded writes. */
  const places = new Map<number, number>()

  function put(seq: number, write: RowWrite): void {
    places.set(seq, folded.length)
    folded.push(write)
  }

  function fence(write: RowWrite): void {
    places.clear()
    folded.push(write)
  }

  function update(write: JobUpdate): void {
    const { seq } = write.key
    const place = places.get(seq)
    const earlier = place === undefined ? undefined : folded[place]
    if (!isPlain(write.set)) fence(write)
    else if (place === undefined || earlier === undefined) put(seq, write)
    else {
      const both = together(earlier, write.set)
      if (both === null) fence(write)
      else folded[place] = both
    }
  }

  /** What else happens to some of them is folded into their rows; the others stay together. */
  function queue(write: Queue): void {
    const [rows, rest] = touched.size === 0 ? [[], write.jobs] : takeApart(write.jobs, seq => touched.has(seq))
    if (rest !== null) folded.push({ op: 'queue', table: 'job', jobs: rest })
    for (const row of rows) put(row.seq, { op: 'insert', table: 'job', row })
  }

  for (const write of rows) {
    if (write.table !== 'job') folded.push(write)
    else if (write.op === 'queue') queue(write)
    else if (write.op === 'update') update(write)
    else if (write.op === 'insert' && !places.has(write.row.seq)) put(write.row.seq, write)
    else fence(write)
  }
  return folded
}

function touchedJobs(rows: readonly RowWrite[]): ReadonlySet<number> {
  const seqs = new Set<number>()
  for (const write of rows) {
    if (write.table !== 'job' || write.op === 'queue') continue
    const seq = 'row' in write ? write.row.seq : write.key.seq
    if (seq !== undefined) seqs.add(seq)
  }
  return seqs
}

/** Sets something, and neither the key nor the id, whose uniqueness depends on the order of writes. */
function isPlain(set: Partial<JobRow>): boolean {
  if ('seq' in set || 'id' in set) return false
  for (const _ in set) return true
  return false
}

/** Null when the row lacks a column that is set: such an update must fail on its own. */
function together(earlier: RowWrite, set: Partial<JobRow>): RowWrite | null {
  if (earlier.op === 'update') {
    const { key, set: before } = earlier as JobUpdate
    return { op: 'update', table: 'job', key, set: completed({ ...set }, before) }
  }
  const { row } = earlier as JobAdd
  for (const column in set) if (!(column in row)) return null
  return { op: 'insert', table: 'job', row: assigned({ ...row }, set) }
}

/** Onto a copy of the later update, which mostly names whatever the earlier does: each column that a spread copy is given anew costs V8 a hidden class. */
function completed(copy: Partial<JobRow>, before: Partial<JobRow>): Partial<JobRow> {
  const from: Cells = cellsOf(before)
  const into = copy as Record<string, unknown>
  for (const column in from) if (!(column in into)) into[column] = from[column]
  return copy
}

/** Onto a spread copy, not by Object.assign into an empty object, which made folding about four times as long. */
function assigned<Part extends Partial<JobRow>>(copy: Part, set: Partial<JobRow>): Part {
  const from: Cells = cellsOf(set)
  const into = copy as Record<string, unknown>
  for (const column in from) into[column] = from[column]
  return copy
}
