import type { TableName, Tables } from '@stoker/protocol'
import { type Cell, type Cells, cellsOf, KEYS } from '../row-keys.ts'

export type RowKey = string | number

/** What a key leads to: a row, or updates on top of one that nobody has read since. Neither is ever changed in place. */
export type Entry<Row extends object = object> = Row | Update<Row>

/** Most rows are updated more often than they are read, and a copy of all columns costs more than a note of the few that changed. */
class Update<Row extends object = object> {
  readonly of: Entry<Row>
  readonly set: Partial<Row>

  constructor(of: Entry<Row>, set: Partial<Row>) {
    this.of = of
    this.set = set
  }
}

/** Rows of one table by key. */
export interface MemoryTable<T extends TableName> {
  keyOf(part: object): RowKey
  has(key: RowKey): boolean
  get(key: RowKey): Tables[T]['row'] | undefined
  /** One column of a row, read without making the row. */
  cell<C extends keyof Tables[T]['row']>(key: RowKey, column: C): Tables[T]['row'][C] | undefined
  /** Puts an update on top of what is there, and answers what was; undefined if nothing is. */
  update(key: RowKey, set: Partial<Tables[T]['row']>): Entry<Tables[T]['row']> | undefined
  /** Sets or, with undefined, removes what is there; answers what was. */
  swap(key: RowKey, entry: Entry<Tables[T]['row']> | undefined): Entry<Tables[T]['row']> | undefined
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
  const lastIndex = keys.length - 1
  const last = keys[lastIndex] ?? ''
  let rows = new Map<RowKey, Entry<Row>>()
  /** Keys by the first key column, for tables whose key has several; null until somebody asks for those with one value. */
  let groups: Map<Cell, Set<RowKey>> | null = null
  let sorted: readonly RowKey[] | null = null

  /** All columns but the last tell their lengths, so that no two keys read alike. */
  function keyOf(part: object): RowKey {
    const cells = cellsOf(part)
    if (keys.length === 1) return cells[first] ?? ''
    let key = ''
    for (let index = 0; index < lastIndex; index += 1) {
      const text = String(cells[keys[index] ?? ''])
      key += `${text.length} ${text}`
    }
    return key + String(cells[last])
  }

  function get(key: RowKey): Row | undefined {
    const entry = rows.get(key)
    if (!(entry instanceof Update)) return entry
    const row = rowOf(entry)
    rows.set(key, row)
    return row
  }

  function keysWith(value: Cell): readonly RowKey[] {
    if (groups === null) {
      groups = new Map()
      for (const [key, entry] of rows) group(groups, key, firstOf(entry))
    }
    return [...(groups.get(value) ?? [])]
  }

  const firstOf = (entry: Entry<Row>): Cell => cellsOf(entry instanceof Update ? rowOf(entry) : entry)[first] ?? null

  function swap(key: RowKey, entry: Entry<Row> | undefined): Entry<Row> | undefined {
    const old = rows.get(key)
    if (entry !== undefined) rows.set(key, entry)
    else if (old !== undefined) rows.delete(key)
    if ((old === undefined) === (entry === undefined)) return old
    sorted = null
    if (groups === null) return old
    if (entry !== undefined) group(groups, key, firstOf(entry))
    else if (old !== undefined) ungroup(groups, key, firstOf(old))
    return old
  }

  function keysUnder(prefix: object): readonly RowKey[] {
    const cells = cellsOf(prefix)
    const named = keys.filter(key => key in cells)
    if (named.length === keys.length) return rows.has(keyOf(prefix)) ? [keyOf(prefix)] : []
    return keysWith(cells[first] ?? null).filter(key => matches(get(key), cells, named))
  }

  const present = (some: readonly RowKey[]): Row[] => some.map(get).filter(row => row !== undefined)
  const compare = (a: Row, b: Row) => compareBy(keys, cellsOf(a), cellsOf(b))

  return {
    keyOf,
    has: key => rows.has(key),
    get,
    cell: (key, column) => {
      let entry = rows.get(key)
      for (; entry instanceof Update; entry = entry.of) {
        const value = entry.set[column]
        if (value !== undefined) return value
      }
      return entry?.[column]
    },
    update: (key, set) => {
      const old = rows.get(key)
      if (old !== undefined) rows.set(key, new Update(old, set))
      return old
    },
    swap,
    keysUnder,
    ordered: () => {
      sorted ??= present([...rows.keys()])
        .sort(compare)
        .map(keyOf)
      return present(sorted)
    },
    under: value => present(keysWith(value)).sort(compare),
    copy: () => new Map(Array.from(rows, ([key, entry]) => [key, rowOf(entry)])),
    replace: others => {
      rows = new Map(others)
      groups = null
      sorted = null
    },
  }
}

function group(groups: Map<Cell, Set<RowKey>>, key: RowKey, value: Cell): void {
  const members = groups.get(value)
  if (members === undefined) groups.set(value, new Set([key]))
  else members.add(key)
}

function ungroup(groups: Map<Cell, Set<RowKey>>, key: RowKey, value: Cell): void {
  const members = groups.get(value)
  members?.delete(key)
  if (members?.size === 0) groups.delete(value)
}

function rowOf<Row extends object>(entry: Entry<Row>): Row {
  if (!(entry instanceof Update)) return entry
  const updates: Update<Row>[] = []
  let bottom: Entry<Row> = entry
  for (; bottom instanceof Update; bottom = bottom.of) updates.push(bottom)
  const row = { ...bottom }
  for (const { set } of updates.reverse()) Object.assign(row, set)
  return row
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
