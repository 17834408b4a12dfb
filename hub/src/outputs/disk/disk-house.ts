import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RowWrite } from '@stoker/protocol'
import { RowTable } from '../contract/row-table.ts'
import type { StreamsHouse } from '../contract/streams-contract.ts'
import { openDiskStreams } from './disk-streams.ts'
import { FaultyDisk } from './faulty-disk.ts'
import { layoutOf } from './layout.ts'

/** A temporary folder with streams in it, for tests. */
export interface DiskHouse extends StreamsHouse {
  readonly folder: string
  readonly disk: FaultyDisk
  /** Instead of committing the rows of a seal. */
  onCommit: ((rows: RowWrite[]) => Promise<void>) | null
  now: number
  files(): Promise<{ readonly segments: string[]; readonly packs: string[] }>
}

export async function buildDiskHouse(segmentBytes = 64 * 1024 * 1024): Promise<DiskHouse> {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-streams-'))
  const table = new RowTable()
  const disk = new FaultyDisk()
  const house: DiskHouse = {
    folder,
    table,
    disk,
    onCommit: null,
    now: 0,
    open: () => {
      const commit = async (rows: RowWrite[]) => (house.onCommit === null ? table.commit(rows) : house.onCommit(rows))
      return openDiskStreams({
        folder,
        queries: table,
        commit,
        segmentBytes,
        create: disk.create,
        now: () => house.now,
      })
    },
    files: async () => {
      const { segments, packs } = layoutOf(folder)
      return { segments: (await readdir(segments)).sort(), packs: (await readdir(packs)).sort() }
    },
    dispose: async () => {
      await rm(folder, { recursive: true })
      if (disk.openFiles !== 0) throw new Error(`closed streams should hold no file, they hold ${disk.openFiles}`)
    },
  }
  return house
}
