import type { TableName, Tables } from '@stoker/protocol'
import { type Cell, type Cells, cellsOf, KEYS } from '../row-keys.ts'

export type RowKey = string | number

/** Rows of one table by key. Rows are never changed in place, so a copy of the table is a copy of references. */
export interface MemoryTable<T extends TableName> {
  keyOf(part: object): RowKey
  get(key: RowKey): Tables[T]['row'] | undefined
  /** Sets or, with undefined, removes the row; answers what was there. */
  swap(key: RowKey, row: Tables[T]['row'] | undefined): Tables[T]['row'] | undefined
  /** Keys of the rows that start with the named prefix of the key. */
  keysUnder(prefix: object): readonly RowKey[]
  /** All rows in the order of their keys. */
  ordered(): readonly Tables[T]['row'][]
  /** Rows with the value in the first key column, in the order of their keys. */
  under(first: Cell): readonly Tables[T]['row'][]
  copy(): ReadonlyMap<RowKey, Tables[T]['row']>
  replace(rows: ReadonlyMap<RowKey, Tables[T]['row']>): void
}

export function createMemoryTable<T extends TableName>(name: T): MemoryTable<T> {
  type Row = Tables[T]['row']
  const keys: readonly string[] = KEYS[name]
  const first = keys[0] ?? ''
  let rows = new Map<RowKey, Row>()
  /** Keys by the first key column, for tables whose key has several. */
  let groups = new Map<Cell, Set<RowKey>>()
  let sorted: readonly RowKey[] | null = null

  function keyOf(part: object): RowKey {
    const cells = cellsOf(part)
    if (keys.length > 1) return JSON.stringify(keys.map(key => cells[key]))
    return cells[first] ?? ''
  }

  function group(key: RowKey, row: Row): void {
    if (keys.length === 1) return
    const value = cellsOf(row)[first] ?? null
    const members = groups.get(value)
    if (members === undefined) groups.set(value, new Set([key]))
    else members.add(key)
  }

  function ungroup(key: RowKey, row: Row): void {
    if (keys.length === 1) return
    const value = cellsOf(row)[first] ?? null
    const members = groups.get(value)
    members?.delete(key)
    if (members?.size === 0) groups.delete(value)
  }

  function swap(key: RowKey, row: Row | undefined): Row | undefined {
    const old = rows.get(key)
    if ((old === undefined) !== (row === undefined)) sorted = null
    if (row !== undefined) {
      rows.set(key, row)
      if (old === undefined) group(key, row)
    } else if (old !== undefined) {
      rows.delete(key)
      ungroup(key, old)
    }
    return old
  }

  function keysUnder(prefix: object): readonly RowKey[] {
    const cells = cellsOf(prefix)
    const named = keys.filter(key => key in cells)
    if (named.length === keys.length) return rows.has(keyOf(prefix)) ? [keyOf(prefix)] : []
    const members = [...(groups.get(cells[first] ?? null) ?? [])]
    return members.filter(key => matches(rows.get(key), cells, named))
  }

  const present = (some: readonly RowKey[]): Row[] => some.map(key => rows.get(key)).filter(row => row !== undefined)
  const compare = (a: Row, b: Row) => compareBy(keys, cellsOf(a), cellsOf(b))

  return {
    keyOf,
    get: key => rows.get(key),
    swap,
    keysUnder,
    ordered: () => {
      sorted ??= [...rows.values()].sort(compare).map(keyOf)
      return present(sorted)
    },
    under: value => present([...(groups.get(value) ?? [])]).sort(compare),
    copy: () => new Map(rows),
    replace: others => {
      rows = new Map(others)
      groups = new Map()
      sorted = null
      for (const [key, row] of rows) group(key, row)
    },
  }
}

function matches(row: object | undefined, cells: Cells, named: readonly string[]): boolean {
  return row !== undefined && named.every(key => cellsOf(row)[key] === cells[key])
}

function compareBy(keys: readonly string[], a: Cells, b: Cells): number {
  for (const key of keys) {
    const left = a[key] ?? ''
    const right = b[key] ?? ''
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}
