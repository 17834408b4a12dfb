import { assertFollows } from '../journal-order.ts'
import { type Cell, KEYS, noSuchRow } from '../row-keys.ts'
import type { Connection, Statement } from './connection.ts'
import type { EncodedCommit, TableWrites } from './encode.ts'
import { createQueuedInsert } from './insert-queued.ts'
import { createJournalReader } from './journal.ts'
import { ROWS_AT_ONCE, type Shape } from './shapes.ts'

/** Statements kept prepared: several times what the hub's writes differ in. */
const KEPT_STATEMENTS = 500

/** Writes commits on one connection. */
export interface Writer {
  /** In a transaction of its own. */
  apply(commit: EncodedCommit): void
  /** In the transaction that is open. */
  write(commit: EncodedCommit): void
}

export function createWriter(db: Connection): Writer {
  const statements = new Map<string, Statement>()
  const insertQueued = createQueuedInsert(db)
  const journalEnd = createJournalReader(db).end
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  const addToJournal = db.prepare('INSERT INTO journal (n, at, hash, body) VALUES (?, ?, ?, ?)')

  function statement(text: string): Statement {
    const known = statements.get(text)
    if (known !== undefined) return known
    if (statements.size >= KEPT_STATEMENTS) statements.clear()
    const made = db.prepare(text)
    statements.set(text, made)
    return made
  }

  /** Answers where the values of the next run begin. */
  function run(shape: Shape, count: number, cells: readonly Cell[], from: number): number {
    const { manyText, width } = shape
    const stop = from + count * width
    let at = from
    if (manyText !== null && count >= ROWS_AT_ONCE) {
      const many = statement(manyText)
      const step = ROWS_AT_ONCE * width
      for (; at + step <= stop; at += step) many.run(...cells.slice(at, at + step))
    }
    if (at === stop) return at
    const one = statement(shape.text)
    for (; at < stop; at += width) {
      const { changes } = one.run(...cells.slice(at, at + width))
      if (shape.mustChange && changes === 0) throw missing(shape, cells.slice(at, at + width))
    }
    return at
  }

  function writeTable({ shapes, runs, cells }: TableWrites): void {
    let at = 0
    for (let index = 0; index + 1 < runs.length; index += 2) {
      const shape = shapes[runs[index] ?? -1]
      if (shape === undefined) throw new Error(`run ${index / 2} names shape ${runs[index]} of ${shapes.length}`)
      at = run(shape, runs[index + 1] ?? 0, cells, at)
    }
  }

  function write({ journal, queued, tables }: EncodedCommit): void {
    if (journal !== null) {
      assertFollows(journalEnd().n, journal.n)
      addToJournal.run(journal.n, journal.at, journal.hash, journal.body)
    }
    for (const jobs of queued) insertQueued(jobs)
    for (const writes of tables) writeTable(writes)
  }

  function apply(commit: EncodedCommit): void {
    begin.run()
    try {
      write(commit)
      end.run()
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  return { apply, write }
}

/** The key is the end of an update's values. */
function missing({ table }: Shape, values: readonly Cell[]): Error {
  const keys: readonly string[] = KEYS[table]
  const key = values.slice(-keys.length)
  return noSuchRow(table, Object.fromEntries(keys.map((name, index) => [name, key[index]])))
}
