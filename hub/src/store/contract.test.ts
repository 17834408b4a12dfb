import type { StoreUnderTest } from './contract/harness.ts'
import { storeContract } from './contract.ts'
import { createMemoryStore } from './memory/store.ts'
import { createMemoryTables } from './memory/tables.ts'
import { sqliteUnderTest } from './sqlite/sqlite-under-test.ts'

async function memoryUnderTest(): Promise<StoreUnderTest> {
  const tables = createMemoryTables()
  const store = createMemoryStore(tables)
  return { store, reopen: async () => createMemoryStore(tables), end: async () => {} }
}

storeContract('memory', memoryUnderTest)
storeContract('sqlite', sqliteUnderTest)
