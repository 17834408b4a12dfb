import type { RowWrite, TableName } from '@stoker/protocol'
import { assertFollows } from '../journal-order.ts'
import type { Commit } from '../port.ts'
import { type Cell, type Cells, cellsOf, deletedPrefix, KEYS, noSuchRow, TABLES, updatedColumns } from '../row-keys.ts'
import type { Connection, Statement } from './connection.ts'
import { createJournalReader } from './journal.ts'

/** Writes commits on one connection, each in one transaction. */
export interface Writer {
  apply(commit: Commit): void
}

export function createWriter(db: Connection): Writer {
  const columns = columnsOf(db)
  const statements = new Map<string, Statement>()
  const journalEnd = createJournalReader(db).end
  const begin = db.prepare('BEGIN IMMEDIATE')
  const end = db.prepare('COMMIT')
  const addToJournal = db.prepare('INSERT INTO journal (n, at, hash, body) VALUES (?, ?, ?, ?)')

  function cached(name: string, text: () => string): Statement {
    const known = statements.get(name)
    if (known !== undefined) return known
    const made = db.prepare(text())
    statements.set(name, made)
    return made
  }

  function write(write: RowWrite): void {
    if (write.op === 'update') update(write)
    else if (write.op === 'delete') remove(write)
    else add(write)
  }

  function add(write: RowWrite & { readonly op: 'insert' | 'put' }): void {
    const { op, table } = write
    const all = columns[table]
    const statement = cached(`${op} ${table}`, () => (op === 'insert' ? insertText : putText)(table, all))
    statement.run(...valuesOf(cellsOf(write.row), all))
  }

  function update(write: RowWrite & { readonly op: 'update' }): void {
    const { table } = write
    const set = updatedColumns(write)
    const statement = cached(`update ${table} ${set.join()}`, () => updateText(table, set))
    const values = valuesOf(cellsOf(write.set), set)
    const { changes } = statement.run(...values, ...valuesOf(cellsOf(write.key), KEYS[table]))
    if (changes === 0) throw noSuchRow(table, write.key)
  }

  function remove(write: RowWrite & { readonly op: 'delete' }): void {
    const prefix = deletedPrefix(write)
    const text = () => `DELETE FROM "${write.table}" WHERE ${matching(prefix)}`
    cached(`delete ${write.table} ${prefix.length}`, text).run(...valuesOf(cellsOf(write.key), prefix))
  }

  function writeAll({ journal, rows }: Commit): void {
    if (journal !== null) {
      assertFollows(journalEnd().n, journal.n)
      addToJournal.run(journal.n, journal.at, journal.hash, journal.body)
    }
    for (const row of rows) write(row)
  }

  function apply(commit: Commit): void {
    begin.run()
    try {
      writeAll(commit)
      end.run()
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  return { apply }
}

function columnsOf(db: Connection): Readonly<Record<TableName, readonly string[]>> {
  const namesOf = (table: TableName): readonly string[] =>
    db
      .prepare(`SELECT name FROM pragma_table_info('${table}')`)
      .all()
      .map((column: { readonly name: string }) => column.name)
  return Object.fromEntries(TABLES.map(table => [table, namesOf(table)])) as Record<TableName, readonly string[]>
}

const quoted = (columns: readonly string[]) => columns.map(column => `"${column}"`).join(', ')
const matching = (columns: readonly string[]) => columns.map(column => `"${column}" = ?`).join(' AND ')

function valuesOf(cells: Cells, columns: readonly string[]): (Cell | undefined)[] {
  return columns.map(column => cells[column])
}

function insertText(table: TableName, columns: readonly string[]): string {
  return `INSERT INTO "${table}" (${quoted(columns)}) VALUES (${columns.map(() => '?').join(', ')})`
}

function putText(table: TableName, columns: readonly string[]): string {
  const keys: readonly string[] = KEYS[table]
  const others = columns.filter(column => !keys.includes(column))
  const set = others.map(column => `"${column}" = excluded."${column}"`).join(', ')
  const action = others.length === 0 ? 'NOTHING' : `UPDATE SET ${set}`
  return `${insertText(table, columns)} ON CONFLICT (${quoted(keys)}) DO ${action}`
}

function updateText(table: TableName, set: readonly string[]): string {
  return `UPDATE "${table}" SET ${set.map(column => `"${column}" = ?`).join(', ')} WHERE ${matching(KEYS[table])}`
}
