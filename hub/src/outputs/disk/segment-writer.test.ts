import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aChunk, aFence, readAll } from '../contract/reading.ts'
import { DiskFullOutputs, type OutputChunk, type Streams } from '../port.ts'
import { checkStreams } from './check-streams.ts'
import { buildDiskHouse, type DiskHouse } from './disk-house.ts'

let house: DiskHouse
let streams: Streams

beforeEach(async () => {
  house = await buildDiskHouse()
  streams = await house.open()
})
afterEach(async () => {
  await streams.close()
  await house.dispose()
})

async function append(...chunks: OutputChunk[]): Promise<void> {
  const rows = await streams.append(chunks)
  house.table.commit(rows)
  streams.committed(rows)
}

it('shares one sync among the appends of many attempts', async () => {
  await append(...Array.from({ length: 200 }, (_, job) => aChunk(0, 'a', { fence: aFence(job) })))
  const before = house.disk.syncs
  await Promise.all(Array.from({ length: 200 }, (_, job) => append(aChunk(1, 'line\n', { fence: aFence(job) }))))
  expect(house.disk.syncs - before).toBe(1)
})

it('rejects what does not fit on a full disk and takes it when there is room again', async () => {
  await append(aChunk(0, 'kept\n'))
  const size = await segmentSize()
  house.disk.roomBytes = 20
  const first = streams.append([aChunk(5, 'first\n')])
  const second = streams.append([aChunk(11, 'second\n')])
  await expect(first).rejects.toThrow(DiskFullOutputs)
  await expect(second).rejects.toThrow(DiskFullOutputs)
  expect(await segmentSize()).toBe(size)
  expect(await streams.sizes(aFence())).toEqual({ stdout: 5, stderr: 0 })

  house.disk.roomBytes = Number.POSITIVE_INFINITY
  await append(aChunk(5, 'first\n'), aChunk(11, 'second\n'))
  expect((await readAll(streams, aFence())).stdout).toBe('kept\nfirst\nsecond\n')
  expect(await checkStreams(house.folder, house.table.allRows())).toEqual([])
})

it('rejects also what was waiting behind a write that found no room, as it continues lost bytes', async () => {
  await append(aChunk(0, 'kept\n'))
  let behind: Promise<unknown> = Promise.resolve('nothing was waiting')
  house.disk.refusals = 1
  house.disk.beforeWrite = () => {
    behind = streams.append([aChunk(11, 'second\n')]).catch(error => error)
  }
  await expect(streams.append([aChunk(5, 'first\n')])).rejects.toThrow(DiskFullOutputs)
  expect(await behind).toBeInstanceOf(DiskFullOutputs)
  await expect(streams.append([aChunk(11, 'second\n')])).rejects.toThrow('known up to byte 5')
  await append(aChunk(5, 'first\n'))
  expect((await readAll(streams, aFence())).stdout).toBe('kept\nfirst\n')
})

it('survives a full disk at the moment a new segment is needed', async () => {
  await streams.close()
  await house.dispose()
  house = await buildDiskHouse(1)
  streams = await house.open()
  await append(aChunk(0, 'a'))
  house.disk.roomBytes = 10
  await expect(streams.append([aChunk(1, 'b')])).rejects.toThrow(DiskFullOutputs)
  house.disk.roomBytes = Number.POSITIVE_INFINITY
  await append(aChunk(1, 'b'))
  expect((await readAll(streams, aFence())).stdout).toBe('ab')
  expect((await house.files()).segments).toEqual(['1.seg', '2.seg', '4.seg'])
})

it('stays broken after a failed sync, never syncs again and still reads', async () => {
  await append(aChunk(0, 'safe\n'))
  house.disk.syncError = 'EIO'
  await expect(streams.append([aChunk(5, 'unsure\n')])).rejects.toThrow('EIO')
  house.disk.syncError = null
  const { syncs } = house.disk
  await expect(streams.append([aChunk(5, 'unsure\n')])).rejects.toThrow('EIO')
  expect(house.disk.syncs).toBe(syncs)
  expect((await readAll(streams, aFence())).stdout).toBe('safe\n')
})

it('cuts an append larger than a group into records and keeps it whole', async () => {
  const text = 'x'.repeat(999).concat('\n').repeat(10_000)
  await append(aChunk(0, text))
  expect((await streams.sizes(aFence())).stdout).toBe(text.length)
  expect(await streams.seekTail(aFence(), 1)).toEqual({ stdout: text.length - 1000, stderr: 0 })
  expect((await readAll(streams, aFence())).stdout === text).toBe(true)
})

async function segmentSize(): Promise<number> {
  return (await stat(join(house.folder, 'segments', '1.seg'))).size
}
