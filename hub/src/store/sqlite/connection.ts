import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite'
import { SQLITE, sqliteCode } from './failure.ts'

/** Longer than any commit or checkpoint of ours; a wait this long means another process holds the file. */
const BUSY_MS = 10_000

/** Enough for the inner pages of every index at two million jobs; each connection has its own. */
const CACHE_KIB = 16_384

/** Must be held as long as its statements are used: they do not keep it alive. */
export type Connection = DatabaseSyncInstance
export type Statement = StatementSyncInstance

export interface ConnectionOptions {
  readonly readOnly: boolean
  /** A commit that leaves the log longer than this folds it into the database before it returns. */
  readonly checkpointPages: number
  /** Lets a test fill the disk without one. */
  readonly maxPages: number | null
}

/** A connection whose commits are on the disk when they return. */
export function openConnection(file: string, options: ConnectionOptions): Connection {
  const db = new DatabaseSync(file, {
    readOnly: options.readOnly,
    timeout: BUSY_MS,
    enableForeignKeyConstraints: false,
  })
  try {
    db.exec(`PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB}; PRAGMA temp_store = MEMORY`)
    db.exec(`PRAGMA wal_autocheckpoint = ${options.checkpointPages}`)
    if (options.maxPages !== null) db.exec(`PRAGMA max_page_count = ${options.maxPages}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** The last connection folds the write-ahead log into the database, so that one file is left; if someone else reads, the log stays beside it. */
export function closeLast(db: Connection): void {
  try {
    db.exec('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE')
  } catch (error) {
    if (sqliteCode(error) !== SQLITE.busy) throw error
  } finally {
    db.close()
  }
}

/** One number of the database's header or state. */
export function readPragma(db: Connection, name: string): number {
  const row: Record<string, number> | undefined = db.prepare(`PRAGMA ${name}`).get()
  return Object.values(row ?? {})[0] ?? 0
}
