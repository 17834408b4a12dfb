import { FolderLocked, lockFolder } from '@stoker/files'
import type { Store } from './store/port.ts'
import { openSqliteStore } from './store/sqlite/open.ts'

/** Opens the store of a data folder for as long as the work takes: as its owner, or as the guest of the hub that runs there. */
export async function withStore<T>(folder: string, work: (store: Store, isGuest: boolean) => Promise<T>): Promise<T> {
  const lock = await lockFolder(folder).catch((error: unknown) => {
    if (error instanceof FolderLocked) return null
    throw error
  })
  try {
    const store = await openSqliteStore({ folder, guest: lock === null })
    try {
      return await work(store, lock === null)
    } finally {
      await store.close()
    }
  } finally {
    await lock?.release()
  }
}
