import { type IdempotencyRow, type JobRow, queuedRows, type RowWrite, type TableName } from '@stoker/protocol'
import { assertFollows, NO_JOURNAL } from '../journal-order.ts'
import type { Commit, JobRef, JournalEnd, JournalRow, LiveJob, Recovery, Store } from '../port.ts'
import { deletedPrefix, noSuchRow, TABLES, updatedColumns } from '../row-keys.ts'
import type { SyncQueries } from '../sync-queries.ts'
import { createMemoryQueries } from './queries.ts'
import { recoverFrom } from './recover.ts'
import { createMemoryTable, type Entry, type MemoryTable, type RowKey } from './table.ts'

export type MemoryRows = { readonly [T in TableName]: MemoryTable<T> }

/** What is kept beside the tables. */
export interface MemoryJournal {
  rows: JournalRow[]
  /** The last forgotten row. */
  boundary: JournalEnd
}

/** The state after some commit; opaque, and not changed by later commits. */
interface MemorySnapshot {
  readonly rows: ReadonlyMap<TableName, ReadonlyMap<RowKey, object>>
  readonly journal: readonly JournalRow[]
  readonly boundary: JournalEnd
  readonly deletedSeq: number
}

/** The store without promises: a commit is in when the call returns, or has thrown and left no trace. */
export interface MemoryTables {
  readonly queries: SyncQueries
  applyCommit(commit: Commit): void
  journalEnd(): JournalEnd
  hasJob: MemoryTable<'job'>['has']
  /** One column of a job, without reading the others. */
  jobCell: MemoryTable<'job'>['cell']
  recover(visit: (jobs: readonly LiveJob[]) => void): Recovery
  idempotency(owner: string, key: string): IdempotencyRow | null
  jobRefs(ids: readonly string[]): readonly JobRef[]
  prune(limits: Parameters<Store['prune']>[0]): void
  snapshot(): MemorySnapshot
  restore(snapshot: MemorySnapshot): void
}

/** What was under a key before the commit touched it. */
interface Undo {
  readonly name: TableName
  readonly key: RowKey
  readonly old: Entry | undefined
}

export function createMemoryTables(): MemoryTables {
  const rows = Object.fromEntries(TABLES.map(name => [name, createMemoryTable(name)])) as unknown as MemoryRows
  const journal: MemoryJournal = { rows: [], boundary: NO_JOURNAL }
  const seqById = new Map<string, number>()
  /** The highest seq of a deleted job: it is never given again. */
  let deletedSeq = 0

  const tableOf = (name: TableName) => rows[name] as unknown as MemoryTable<TableName>
  const journalEnd = (): JournalEnd => {
    const last = journal.rows.at(-1)
    return last === undefined ? journal.boundary : { n: last.n, hash: last.hash }
  }

  function swap(name: TableName, key: RowKey, entry: Entry | undefined): Entry | undefined {
    if (name !== 'job') return tableOf(name).swap(key, entry as never)
    const before = rows.job.cell(key, 'id')
    const old = rows.job.swap(key, entry as Entry<JobRow> | undefined)
    renameJob(Number(key), before, rows.job.cell(key, 'id'))
    return old
  }

  function renameJob(seq: number, before: string | undefined, id: string | undefined): void {
    if (before === id) return
    if (before !== undefined) seqById.delete(before)
    if (id !== undefined) seqById.set(id, seq)
  }

  function change(name: TableName, key: RowKey, entry: Entry | undefined, undo: Undo[]): void {
    undo.push({ name, key, old: swap(name, key, entry) })
  }

  function remove(write: RowWrite & { readonly op: 'delete' }, undo: Undo[]): void {
    deletedPrefix(write)
    for (const key of tableOf(write.table).keysUnder(write.key)) {
      if (write.table === 'job') deletedSeq = Math.max(deletedSeq, Number(key))
      change(write.table, key, undefined, undo)
    }
  }

  function update(write: RowWrite & { readonly op: 'update' }, undo: Undo[]): void {
    const { table: name, set } = write
    updatedColumns(name, set)
    const table = tableOf(name)
    const key = table.keyOf(write.key)
    const id = name === 'job' ? set.id : undefined
    if (id !== undefined) assertOwnId(id, Number(key), seqById)
    const before = id === undefined ? undefined : rows.job.cell(key, 'id')
    const old = table.update(key, set)
    if (old === undefined) throw noSuchRow(name, write.key)
    undo.push({ name, key, old })
    if (id !== undefined) renameJob(Number(key), before, id)
  }

  function add(write: RowWrite & { readonly op: 'insert' | 'put' }, undo: Undo[]): void {
    const { table: name, row } = write
    const table = tableOf(name)
    const key = table.keyOf(row)
    if (write.op === 'insert' && table.has(key)) throw alreadyThere(name, key)
    if (name === 'job') assertOwnId(row.id, row.seq, seqById)
    change(name, key, row, undo)
  }

  function queue(row: JobRow, undo: Undo[]): void {
    const { seq, id } = row
    if (rows.job.has(seq)) throw alreadyThere('job', seq)
    assertOwnId(id, seq, seqById)
    rows.job.swap(seq, row)
    seqById.set(id, seq)
    undo.push({ name: 'job', key: seq, old: undefined })
  }

  function write(write: RowWrite, undo: Undo[]): void {
    switch (write.op) {
      case 'update':
        update(write, undo)
        break
      case 'delete':
        remove(write, undo)
        break
      case 'queue':
        for (const row of queuedRows(write.jobs)) queue(row, undo)
        break
      default:
        add(write, undo)
    }
  }

  function applyCommit(commit: Commit): void {
    if (commit.journal !== null) assertFollows(journalEnd().n, commit.journal.n)
    const undo: Undo[] = []
    const seqBefore = deletedSeq
    try {
      for (const row of commit.rows) write(row, undo)
    } catch (error) {
      for (const { name, key, old } of undo.reverse()) swap(name, key, old)
      deletedSeq = seqBefore
      throw error
    }
    if (commit.journal !== null) journal.rows.push(commit.journal)
  }

  return {
    queries: createMemoryQueries(rows, journal, seqById),
    applyCommit,
    journalEnd,
    hasJob: rows.job.has,
    jobCell: rows.job.cell,
    recover: visit => recoverFrom(rows, visit, journalEnd(), deletedSeq),
    idempotency: (owner, key) => rows.idempotency.get(rows.idempotency.keyOf({ owner, key })) ?? null,
    jobRefs: ids =>
      ids
        .flatMap(id => rows.job.get(seqById.get(id) ?? -1) ?? [])
        .map(({ id, seq, owner, state }) => ({ id, seq, owner, state })),
    prune({ keysBefore, journalBefore }) {
      for (const row of rows.idempotency.ordered().filter(row => row.at < keysBefore)) {
        rows.idempotency.swap(rows.idempotency.keyOf(row), undefined)
      }
      const kept = journal.rows.findIndex(row => row.at >= journalBefore)
      const last = journal.rows.splice(0, kept === -1 ? journal.rows.length : kept).at(-1)
      if (last !== undefined) journal.boundary = { n: last.n, hash: last.hash }
    },
    snapshot: () => ({
      rows: new Map(TABLES.map(name => [name, tableOf(name).copy()])),
      journal: [...journal.rows],
      boundary: journal.boundary,
      deletedSeq,
    }),
    restore(snapshot) {
      for (const name of TABLES) tableOf(name).replace((snapshot.rows.get(name) ?? new Map()) as never)
      journal.rows = [...snapshot.journal]
      journal.boundary = snapshot.boundary
      deletedSeq = snapshot.deletedSeq
      seqById.clear()
      for (const { id, seq } of rows.job.ordered()) seqById.set(id, seq)
    },
  }
}

function alreadyThere(table: TableName, key: RowKey): Error {
  return new Error(`an insert into ${table} has the key ${JSON.stringify(key)} of a row that is there`)
}

function assertOwnId(id: string, seq: number, seqById: ReadonlyMap<string, number>): void {
  const other = seqById.get(id)
  if (other !== undefined && other !== seq) throw new Error(`job ${seq} has the id ${id} of job ${other}`)
}
