import { join } from 'node:path'
import { syncFolder } from '@stoker/files'
import type { Store } from '../port.ts'
import { BACKSTOP_PAGES } from './checkpoint.ts'
import { commitLogBeside, createCommitLog } from './commit-log.ts'
import { type Connection, openConnection } from './connection.ts'
import { claimDatabase, unreadable } from './identity.ts'
import { migrate } from './migrate.ts'
import { replayAll } from './replay-all.ts'
import { createSqliteStore, type StoreFile } from './store.ts'

export interface SqliteOptions {
  /** Holds `stoker.db`; it must exist and be locked by the caller, unless that is a guest. */
  readonly folder: string
  /** A hub owns the folder: only to look at and to copy. */
  readonly guest?: boolean | undefined
  /** For tests of a full disk: the most pages the database may have. */
  readonly maxPages?: number | undefined
}

/** Opens or makes the database; rejects with StoreUnusable when the file is damaged, another program's or a newer stoker's. */
export async function openSqliteStore({ folder, guest, maxPages }: SqliteOptions): Promise<Store> {
  const file = join(folder, 'stoker.db')
  const start: StoreFile = { file, isGuest: guest ?? false, maxPages: maxPages ?? null }
  try {
    const db = openConnection(file, { readOnly: false, checkpointPages: BACKSTOP_PAGES, maxPages: start.maxPages })
    return await openOver(db, folder, start)
  } catch (error) {
    throw unreadable(file, error)
  }
}

async function openOver(db: Connection, folder: string, start: StoreFile): Promise<Store> {
  try {
    claimDatabase(db, start.file)
    if (!start.isGuest) replayAll(db, start.file)
    await migrate(db, start.file)
    const defers = start.maxPages === null && !start.isGuest
    const commitLog = defers ? await createCommitLog(commitLogBeside(start.file)) : null
    await syncFolder(folder)
    return createSqliteStore(db, start, commitLog)
  } catch (error) {
    db.close()
    throw error
  }
}
