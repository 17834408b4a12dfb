import { createHash } from 'node:crypto'
import { mkdtemp, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BlobTable } from '../contract/blob-table.ts'
import { blobsContract } from '../contract/blobs-contract.ts'
import { blobLayout, blobPath } from './blob-layout.ts'
import { checkBlobs } from './check-blobs.ts'
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

it('finds content that is gone, cut or altered', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stoker-blobs-'))
  try {
    const table = new BlobTable()
    const ports = { index: table, commit: table.commit.bind(table), now: Date.now, checkRoom: async () => {} }
    const blobs = await openDiskBlobs(join(folder, 'blobs'), ports)
    const bytes = Buffer.from('content')
    const key = { owner: 'ada', sha256: createHash('sha256').update(bytes).digest('hex') }
    await blobs.put({ ...key, size: 7, first: 0, length: 7, body: one(bytes) })
    const rows = await table.blobs('ada', [key.sha256])
    const path = blobPath(blobLayout(join(folder, 'blobs')), key)
    const check = () => checkBlobs(join(folder, 'blobs'), rows)
    expect(await check()).toEqual([])
    await writeFile(path, 'cantent')
    expect(await check()).toEqual([expect.stringMatching(/of ada gives the hash [0-9a-f]{64}$/)])
    await truncate(path, 3)
    expect(await check()).toEqual([expect.stringContaining('should have 7 bytes, its file has 3')])
    await rm(path)
    expect(await check()).toEqual([expect.stringContaining('should have 7 bytes, its file is not there')])
  } finally {
    await rm(folder, { recursive: true })
  }
})

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array[]> {
  yield [bytes]
}
