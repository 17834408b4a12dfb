import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { quantile } from '../statistics.ts'

export interface FsyncTime {
  readonly p50Ms: number
  readonly p99Ms: number
}

const WRITES = 60
const BLOCK = Buffer.alloc(4096, 7)

/** What the disk below the folder takes to make 4 KiB durable: half of all that a durable queue can do is decided here. */
export async function fsyncTime(folder: string): Promise<FsyncTime> {
  const path = join(folder, 'fsync-probe')
  const file = await open(path, 'w')
  const times: number[] = []
  try {
    for (let i = 0; i < WRITES; i += 1) {
      await file.write(BLOCK)
      const startedAt = performance.now()
      await file.datasync()
      times.push(performance.now() - startedAt)
    }
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
  return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) }
}
