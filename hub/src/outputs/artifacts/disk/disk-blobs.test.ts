import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BlobTable } from '../contract/blob-table.ts'
import { blobsContract } from '../contract/blobs-contract.ts'
import { openDiskBlobs } from './disk-blobs.ts'

blobsContract('disk', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-blobs-'))
  return {
    open: ports => openDiskBlobs(join(folder, 'blobs'), ports),
    end: () => rm(folder, { recursive: true }),
  }
})

it('forgets uploads nobody went on with, and only those', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-blobs-'))
  try {
    const table = new BlobTable()
    const ports = { index: table, commit: table.commit.bind(table), now: Date.now, checkRoom: async () => {} }
    const blobs = await openDiskBlobs(join(folder, 'blobs'), ports)
    const names = ['old', 'new'].map(text => createHash('sha256').update(text).digest('hex'))
    for (const sha256 of names) {
      await blobs.put({ owner: 'ada', sha256, size: 9, first: 0, length: 4, body: one(Buffer.from('part')) })
    }
    const unfinished = join(folder, 'blobs', 'unfinished')
    const old = (await readdir(unfinished)).find(name => name.endsWith(names[0] ?? '-'))
    await utimes(join(unfinished, old ?? ''), 1000, 1000)
    const before = Date.now() - 60_000
    expect(await blobs.abandoned(before)).toEqual({ count: 1, bytes: 4 })
    expect(await blobs.removeAbandoned(before)).toEqual({ count: 1, bytes: 4 })
    const offsets = names.map(sha256 => blobs.offset({ owner: 'ada', sha256 }))
    expect(await Promise.all(offsets)).toEqual([0, 4])
  } finally {
    await rm(folder, { recursive: true })
  }
})

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
