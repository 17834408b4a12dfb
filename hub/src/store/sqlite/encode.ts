import type { QueuedJobs, RowWrite, TableName } from '@stoker/protocol'
import type { Commit } from '../port.ts'
import { type Cell, cellsOf, deletedPrefix, KEYS, TABLES } from '../row-keys.ts'
import type { Connection } from './connection.ts'
import { createShapes, type Shape, type Shapes } from './shapes.ts'

/** The writes to one table in their order: flat lists, which become text several times faster than rows do. */
export interface TableWrites {
  readonly shapes: readonly Shape[]
  /** Pairs: the place of a shape in the list, and how many writes in a row have it. */
  readonly runs: readonly number[]
  /** The values of all writes, one after the other. */
  readonly cells: readonly Cell[]
}

/** A commit as statements and values; no table depends on another, so each has its own list. */
export interface EncodedCommit {
  readonly journal: Commit['journal']
  /** They travel as they are. */
  readonly queued: readonly QueuedJobs[]
  readonly tables: readonly TableWrites[]
  /** New rows have a value in every column that needs one, and all values are of their columns' types. */
  readonly isTyped: boolean
}

/** Throws for a write that no statement can express. */
export type Encode = (commit: Commit) => EncodedCommit

export function createEncoder(db: Connection): Encode {
  const encoders = new Map(TABLES.map(table => [table, createTableEncoder(table, db)]))
  return ({ journal, rows }) => {
    const used = new Set<TableEncoder>()
    const queued: QueuedJobs[] = []
    try {
      for (const write of rows) {
        if (write.op === 'queue') {
          queued.push(write.jobs)
          continue
        }
        const encoder = encoders.get(write.table)
        if (encoder === undefined) throw new Error(`there is no table ${write.table}`)
        used.add(encoder)
        encoder.add(write)
      }
    } catch (error) {
      for (const encoder of used) encoder.take()
      throw error
    }
    const isTyped = queued.length === 0 && [...used].every(encoder => encoder.isTyped)
    return { journal, queued, tables: [...used].map(encoder => encoder.take()), isTyped }
  }
}

type SingleWrite = Exclude<RowWrite, { readonly op: 'queue' }>

interface TableEncoder {
  /** Of all rows added since the last take. */
  readonly isTyped: boolean
  add(write: SingleWrite): void
  /** The writes since the last take. */
  take(): TableWrites
}

function createTableEncoder(table: TableName, db: Connection): TableEncoder {
  const typed = typedColumns(db, table)
  const columns = typed.map(({ name }) => name)
  const known: Shapes = createShapes(table, columns)
  const keys: readonly string[] = KEYS[table]
  const needed = bitsOf(typed)
  let shapes: Shape[] = []
  let runs: number[] = []
  let cells: Cell[] = []
  let last: Shape | null = null
  let isTyped = true

  function count(shape: Shape): void {
    if (shape === last) {
      runs[runs.length - 1] = (runs.at(-1) ?? 0) + 1
      return
    }
    const place = shapes.indexOf(shape)
    runs.push(place === -1 ? shapes.push(shape) - 1 : place, 1)
    last = shape
  }

  /** The loop every new row passes: a null cell is neither sent nor bound. */
  function addRow(op: 'insert' | 'put', part: object): void {
    const row = cellsOf(part)
    let low = 0
    let high = 0
    for (let index = 0; index < columns.length; index++) {
      const cell = row[columns[index] ?? '']
      if (cell === null) continue
      if (cell === undefined) throw new Error(`a row for ${table} lacks the column ${columns[index]}`)
      cells.push(finite(cell))
      isTyped &&= fitsType(cell, typed[index]?.type)
      if (index < 31) low |= 1 << index
      else high |= 1 << (index - 31)
    }
    isTyped &&= (low & needed.low) === needed.low && (high & needed.high) === needed.high
    count(known.added(op, low, high))
  }

  /** JSON, in which commits travel, would make nothing of other numbers. */
  function finite(cell: Cell): Cell {
    if (typeof cell === 'number' && !Number.isFinite(cell))
      throw new Error(`a write to ${table} has the number ${cell}`)
    return cell
  }

  function addCell(name: string, cell: Cell | undefined): void {
    if (cell === undefined) throw new Error(`a write to ${table} gives no value to ${name}`)
    cells.push(finite(cell))
  }

  function addSet(part: object): void {
    const set = cellsOf(part)
    for (const name in set) if (set[name] !== null) addCell(name, set[name])
  }

  function addKey(part: object, names: readonly string[]): void {
    const key = cellsOf(part)
    for (const name of names) addCell(name, key[name])
  }

  function add(write: SingleWrite): void {
    if (write.op === 'update') {
      const shape = known.updated(write)
      addSet(write.set)
      addKey(write.key, keys)
      count(shape)
    } else if (write.op === 'delete') {
      const prefix = deletedPrefix(write)
      addKey(write.key, prefix)
      count(known.deleted(prefix))
    } else addRow(write.op, write.row)
  }

  function take(): TableWrites {
    const taken = { shapes, runs, cells }
    shapes = []
    runs = []
    cells = []
    last = null
    isTyped = true
    return taken
  }

  return {
    get isTyped() {
      return isTyped
    },
    add,
    take,
  }
}

/** In the order in which shapes count them. */
export function columnsOf(db: Connection, table: TableName): readonly string[] {
  return typedColumns(db, table).map(({ name }) => name)
}

interface TypedColumn {
  readonly name: string
  readonly type: 'INTEGER' | 'REAL' | 'TEXT'
  readonly needed: 0 | 1
}

function typedColumns(db: Connection, table: TableName): readonly TypedColumn[] {
  return db.prepare(`SELECT name, type, "notnull" OR pk AS needed FROM pragma_table_info('${table}')`).all()
}

/** Tables are strict: a value of another type would be refused. */
function fitsType(cell: Cell, type: TypedColumn['type'] | undefined): boolean {
  if (type === 'TEXT') return typeof cell === 'string'
  return type === 'INTEGER' ? Number.isSafeInteger(cell) : typeof cell === 'number'
}

/** Columns as bits, in two numbers of 31. */
function bitsOf(columns: readonly { readonly needed: 0 | 1 }[]): { readonly low: number; readonly high: number } {
  const bits = (from: number) =>
    columns.slice(from, from + 31).reduce((sum, { needed }, index) => sum | (needed << index), 0)
  return { low: bits(0), high: bits(31) }
}
