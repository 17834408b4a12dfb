import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { expect } from 'vitest'
import type { StoreUnderTest } from '../contract/harness.ts'
import type { Store } from '../port.ts'
import { openSqliteStore } from './open.ts'

/** A store in a folder of its own; its end proves that a closed store is one file. */
export async function sqliteUnderTest(): Promise<StoreUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-store-'))
  let current: Store = await openSqliteStore({ folder })
  const store = current
  return {
    store,
    async reopen() {
      await current.close()
      current = await openSqliteStore({ folder })
      return current
    },
    async end() {
      await current.close()
      expect(await readdir(folder)).toEqual(['stoker.db'])
      await removeTree(folder)
    },
  }
}
