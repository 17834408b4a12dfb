import type { RowWrite, TableName } from '@stoker/protocol'
import { cellsOf, KEYS, updatedColumns } from '../row-keys.ts'
import { deleteText, insertText, putText, updateText } from './statement-text.ts'

/** Rows one insert statement takes: an eighth cheaper than one by one; 8 gained nothing, 25 no more. */
export const ROWS_AT_ONCE = 20

/** What a new row is made of: the columns that are not null, as bits in the order of the table's columns. */
export type AddPlan = readonly [op: 'insert' | 'put', low: number, high: number]

/** One statement, as writes that differ only in their values share it. */
export interface Shape {
  readonly table: TableName
  /** Null for updates and deletes. */
  readonly adds: AddPlan | null
  readonly text: string
  /** The same for ROWS_AT_ONCE rows; null where rows go one by one. */
  readonly manyText: string | null
  /** Values of one row. */
  readonly width: number
  /** An update of a row that is not there must fail. */
  readonly mustChange: boolean
}

/** Finds the shape of a write without building a text for it. */
export interface Shapes {
  added(...plan: AddPlan): Shape
  /** By the columns in the order in which the update names them; those it sets to null need no value. */
  updated(write: RowWrite & { readonly op: 'update' }): Shape
  deleted(prefix: readonly string[]): Shape
}

/** A step on the way through the columns of an update: by name, and apart for those it clears. */
interface Fork {
  readonly set: Map<string, Fork>
  readonly cleared: Map<string, Fork>
  shape: Shape | null
}

const newFork = (): Fork => ({ set: new Map(), cleared: new Map(), shape: null })

/** More columns would not fit two whole numbers of 31 bits. */
const MOST_COLUMNS = 62

export function createShapes(table: TableName, columns: readonly string[]): Shapes {
  if (columns.length > MOST_COLUMNS) {
    throw new Error(
      `table ${table} has ${columns.length} columns, its writes are told apart by at most ${MOST_COLUMNS}`,
    )
  }
  const adds = { insert: new Map<number, Map<number, Shape>>(), put: new Map<number, Map<number, Shape>>() }
  const updates = newFork()
  const deletes = new Map<number, Shape>()
  const keyWidth = KEYS[table].length

  function newAdd(...adds: AddPlan): Shape {
    const [op, low, high] = adds
    const set = columns.filter((_, index) => ((index < 31 ? low >> index : high >> (index - 31)) & 1) === 1)
    const isInsert = op === 'insert'
    return {
      table,
      adds,
      text: isInsert ? insertText(table, set, 1) : putText(table, set, columns),
      manyText: isInsert ? insertText(table, set, ROWS_AT_ONCE) : null,
      width: set.length,
      mustChange: false,
    }
  }

  function newUpdate(write: RowWrite & { readonly op: 'update' }): Shape {
    const named = updatedColumns(write.table, write.set)
    const cells = cellsOf(write.set)
    const set = named.filter(column => cells[column] !== null)
    const cleared = named.filter(column => cells[column] === null)
    const width = set.length + keyWidth
    return { table, adds: null, text: updateText(table, set, cleared), manyText: null, width, mustChange: true }
  }

  function newDelete(prefix: readonly string[]): Shape {
    return {
      table,
      adds: null,
      text: deleteText(table, prefix),
      manyText: null,
      width: prefix.length,
      mustChange: false,
    }
  }

  return {
    added(op, low, high) {
      const byLow = adds[op]
      const byHigh = byLow.get(low) ?? kept(byLow, low, new Map<number, Shape>())
      return byHigh.get(high) ?? kept(byHigh, high, newAdd(op, low, high))
    },
    updated(write) {
      const cells = cellsOf(write.set)
      let fork = updates
      for (const column in cells) {
        const next = cells[column] === null ? fork.cleared : fork.set
        fork = next.get(column) ?? kept(next, column, newFork())
      }
      fork.shape ??= newUpdate(write)
      return fork.shape
    },
    deleted: prefix => deletes.get(prefix.length) ?? kept(deletes, prefix.length, newDelete(prefix)),
  }
}

function kept<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  map.set(key, value)
  return value
}
