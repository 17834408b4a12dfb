import { join } from 'node:path'
import { syncFolder } from '@stoker/files'
import type { Store } from '../port.ts'
import { BACKSTOP_PAGES } from './checkpoint.ts'
import { type Connection, openConnection } from './connection.ts'
import { claimDatabase, unreadable } from './identity.ts'
import { migrate } from './migrate.ts'
import { createSqliteStore, type StoreFile } from './store.ts'

export interface SqliteOptions {
  /** Holds `stoker.db`; it must exist and be locked by the caller. */
  readonly folder: string
  /** For tests of a full disk: the most pages the database may have. */
  readonly maxPages?: number | undefined
}

/** Opens or makes the database; rejects with StoreUnusable when the file is damaged, another program's or a newer stoker's. */
export async function openSqliteStore({ folder, maxPages }: SqliteOptions): Promise<Store> {
  const file = join(folder, 'stoker.db')
  const start: StoreFile = { file, maxPages: maxPages ?? null }
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
    await migrate(db, start.file)
    await syncFolder(folder)
    return createSqliteStore(db, start)
  } catch (error) {
    db.close()
    throw error
  }
}
