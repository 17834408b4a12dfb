import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { freeBytes } from '@stoker/files'

const LOOK_AGAIN_MS = 15_000

export interface DataSizes {
  readonly freeBytes: number
  readonly parts: Readonly<Record<string, number>>
}

/** How large the parts of a data folder are; looked at now and then, since it asks for the size of every file. */
export function dataSizes(folder: string, now: () => number): () => Promise<DataSizes> {
  let known: Promise<DataSizes> | null = null
  let lookedAt = 0
  return () => {
    if (known === null || now() - lookedAt > LOOK_AGAIN_MS) {
      lookedAt = now()
      known = look(folder)
    }
    return known
  }
}

async function look(folder: string): Promise<DataSizes> {
  const [free, database, journal, segments, packs] = await Promise.all([
    freeBytes(folder),
    sizeOf(join(folder, 'stoker.db')),
    sizeOf(join(folder, 'stoker.db-wal')),
    sizeBelow(join(folder, 'outputs', 'segments')),
    sizeBelow(join(folder, 'outputs', 'packs')),
  ])
  return { freeBytes: free.freeBytes, parts: { database, 'write-ahead': journal, segments, packs } }
}

async function sizeBelow(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => [])
  let sum = 0
  for (const name of names) sum += await sizeOf(join(folder, name))
  return sum
}

/** Files come and go while they are looked at. */
function sizeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ size }) => size,
    () => 0,
  )
}
