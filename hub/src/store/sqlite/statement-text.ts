import type { TableName } from '@stoker/protocol'
import { KEYS } from '../row-keys.ts'

const quoted = (columns: readonly string[]) => columns.map(column => `"${column}"`).join(', ')
const matching = (columns: readonly string[]) => columns.map(column => `"${column}" = ?`).join(' AND ')

/** Columns that are left out are null. */
export function insertText(table: TableName, columns: readonly string[], rows: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`
  return `INSERT INTO "${table}" (${quoted(columns)}) VALUES ${Array.from({ length: rows }, () => row).join(', ')}`
}

/** Columns that are left out become null in the row that is there, too. */
export function putText(table: TableName, columns: readonly string[], all: readonly string[]): string {
  const keys: readonly string[] = KEYS[table]
  const others = all.filter(column => !keys.includes(column))
  const set = others.map(column => `"${column}" = excluded."${column}"`).join(', ')
  const action = others.length === 0 ? 'NOTHING' : `UPDATE SET ${set}`
  return `${insertText(table, columns, 1)} ON CONFLICT (${quoted(keys)}) DO ${action}`
}

/** Sets some columns to values and clears others. */
export function updateText(table: TableName, set: readonly string[], cleared: readonly string[]): string {
  const changes = [...set.map(column => `"${column}" = ?`), ...cleared.map(column => `"${column}" = NULL`)]
  return `UPDATE "${table}" SET ${changes.join(', ')} WHERE ${matching(KEYS[table])}`
}

export function deleteText(table: TableName, prefix: readonly string[]): string {
  return `DELETE FROM "${table}" WHERE ${matching(prefix)}`
}
