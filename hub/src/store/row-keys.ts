import type { RowWrite, TableName, Tables } from '@stoker/protocol'

/** The key columns of every table, in the order in which a delete may name a prefix of them. */
export const KEYS: { readonly [T in TableName]: readonly (keyof Tables[T]['key'] & string)[] } = {
  job: ['seq'],
  attempt: ['job', 'number'],
  bucket: ['id'],
  worker: ['id'],
  token: ['id'],
  webhook: ['id'],
  delivery: ['webhook', 'job'],
  secret: ['owner', 'name'],
  audit: ['id'],
  idempotency: ['owner', 'key'],
  counter: ['owner', 'state'],
  ownerUse: ['owner'],
  device: ['uuid'],
  chunk: ['job', 'epoch', 'attempt', 'stream', 'offset'],
  sealed: ['job', 'epoch', 'attempt'],
  blob: ['owner', 'sha256'],
  input: ['job', 'sha256'],
  artifact: ['job', 'attempt', 'path'],
  label: ['key', 'value', 'job'],
  edge: ['job', 'dependency'],
  session: ['job'],
  hold: ['job'],
  jobGroup: ['id'],
  ownerLimits: ['owner'],
  schedule: ['id'],
  meta: ['key'],
}

export const TABLES = Object.keys(KEYS) as readonly TableName[]

/** What a cell of any table can hold. */
export type Cell = string | number | null
export type Cells = Readonly<Record<string, Cell>>

/** A row, key or set of any table as columns by name: the one place where its table is forgotten. */
export function cellsOf(part: object): Cells {
  return part as Cells
}

/** The columns an update sets; a key names a row for ever, so setting one is refused. */
export function updatedColumns(table: TableName, set: object): readonly string[] {
  const columns = Object.keys(set)
  if (columns.length === 0) throw new Error(`an update of ${table} sets no column`)
  for (const key of KEYS[table])
    if (columns.includes(key)) throw new Error(`an update of ${table} sets "${key}", which is part of its key`)
  return columns
}

/** The key columns a delete names: a prefix of the key, so that the rows lie together. */
export function deletedPrefix(write: RowWrite & { readonly op: 'delete' }): readonly string[] {
  const keys: readonly string[] = KEYS[write.table]
  const named = Object.keys(write.key)
  const prefix = keys.slice(0, named.length)
  if (named.length === 0 || !prefix.every(column => named.includes(column))) {
    const given = named.join(', ') || 'nothing'
    throw new Error(`a delete from ${write.table} names ${given}, not a prefix of its key (${keys.join(', ')})`)
  }
  return prefix
}

/** Two facts part when an update finds no row: the memory that made it and the store. */
export function noSuchRow(table: TableName, key: object): Error {
  return new Error(`an update of ${table} names ${JSON.stringify(key)}, but there is no such row`)
}
