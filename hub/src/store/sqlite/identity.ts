import { StoreUnusable } from '../port.ts'
import { type Connection, readPragma } from './connection.ts'
import { SQLITE, sqliteCode } from './failure.ts'
import { MIGRATIONS } from './migrations/all.ts'

/** "Stok" in the header of every database of ours. */
const APPLICATION_ID = 0x53746f6b

/** Refuses what is not ours before anything is written to it; prepares an empty file. */
export function claimDatabase(db: Connection, file: string): void {
  const application = readPragma(db, 'application_id')
  if (application !== APPLICATION_ID) {
    if (!isEmpty(db)) throw foreign(file, application)
    prepareEmpty(db)
  }
  const version = readPragma(db, 'user_version')
  if (version > MIGRATIONS.length) throw newer(file, version)
  db.exec('PRAGMA journal_mode = WAL')
}

/** A read that SQLite itself could not understand, as the refusal a person can act on. */
export function unreadable(file: string, error: unknown): unknown {
  const code = sqliteCode(error)
  if (code !== SQLITE.corrupt && code !== SQLITE.notADatabase) return error
  const found = code === SQLITE.corrupt ? 'is damaged' : 'is not a SQLite database'
  return new StoreUnusable(
    `${file} ${found}; a stoker database is needed: restore a backup there, or use another data folder`,
    error,
  )
}

function isEmpty(db: Connection): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema LIMIT 1').get() === undefined
}

/** auto_vacuum is settled by the first write to the file, which is the application id. */
function prepareEmpty(db: Connection): void {
  db.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA application_id = ${APPLICATION_ID}`)
}

function foreign(file: string, application: number): StoreUnusable {
  return new StoreUnusable(
    `${file} is a SQLite database of another program (application id ${application}, ours is ${APPLICATION_ID}): use another data folder`,
  )
}

function newer(file: string, version: number): StoreUnusable {
  return new StoreUnusable(
    `${file} has schema ${version}, this stoker knows schemas up to ${MIGRATIONS.length}: upgrade stoker, or restore a backup made by this version`,
  )
}
