import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aChunk, aFence, readAll } from '../contract/reading.ts'
import type { OutputChunk, Streams } from '../port.ts'
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

async function restart(): Promise<void> {
  await streams.close()
  streams = await house.open()
}

function end(...jobs: number[]): void {
  for (const job of jobs) {
    house.table.end(aFence(job))
    streams.ended(aFence(job))
  }
}

const of = (job: number) => ({ fence: aFence(job) })

it('seals many attempts into one pack and deletes the segment', async () => {
  await append(...Array.from({ length: 20 }, (_, job) => aChunk(0, `output of ${job}\n`, of(job))))
  end(...Array.from({ length: 20 }, (_, job) => job))
  await restart()
  await streams.sweep()
  expect(await house.files()).toEqual({ segments: ['2.seg'], packs: ['1.pack'] })
  expect(house.table.allRows().chunks).toEqual([])
  for (let job = 0; job < 20; job++) expect((await readAll(streams, aFence(job))).stdout).toBe(`output of ${job}\n`)
  expect(await checkStreams(house.folder, house.table.allRows())).toEqual([])
})

it('waits until all attempts of a segment have ended', async () => {
  await append(aChunk(0, 'short\n', of(1)), aChunk(0, 'long\n', of(2)))
  end(1)
  await restart()
  await streams.sweep()
  expect((await house.files()).packs).toEqual([])
  end(2)
  await streams.sweep()
  expect(await house.files()).toEqual({ segments: ['2.seg'], packs: ['1.pack'] })
})

it('leaves a young segment open and closes an old one, so that a quiet hub seals too', async () => {
  await append(aChunk(0, 'a\n'))
  end(1)
  await streams.sweep()
  expect((await house.files()).segments).toEqual(['1.seg'])
  house.now = 3_600_000
  await streams.sweep()
  expect(await house.files()).toEqual({ segments: ['2.seg'], packs: ['1.pack'] })
})

it('keeps a segment that rows not yet committed point into', async () => {
  const rows = await streams.append([aChunk(0, 'on its way\n')])
  end(1)
  house.now = 3_600_000
  await streams.sweep()
  expect((await house.files()).segments).toEqual(['1.seg', '2.seg'])
  house.table.commit(rows)
  streams.committed(rows)
  await streams.sweep()
  expect((await house.files()).segments).toEqual(['2.seg'])
  expect((await readAll(streams, aFence())).stdout).toBe('on its way\n')
})

it('reads, seeks and pages a sealed output of several blocks', async () => {
  const line = (n: number) => `${String(n).padStart(8, '0')} ${'abcdefghij'.repeat(n % 9)}\n`
  const lines = Array.from({ length: 60_000 }, (_, n) => line(n))
  const text = lines.join('')
  for (let from = 0; from < text.length; from += 200_000) {
    await append(aChunk(from, text.slice(from, from + 200_000), { at: from }))
  }
  await append(aChunk(0, 'only error\n', { stream: 'stderr', at: 9e9 }))
  end(1)
  await restart()
  await streams.sweep()
  expect((await house.files()).segments).toEqual(['2.seg'])
  const all = await readAll(streams, aFence())
  expect(all.stdout === text).toBe(true)
  expect(all.stderr).toBe('only error\n')
  for (const count of [1, 17, 30_000, 59_999]) {
    const { stdout } = await streams.seekTail(aFence(), count)
    expect(text.slice(stdout)).toBe(lines.slice(-count).join(''))
  }
  expect(await streams.seekTime(aFence(), 1_400_001)).toEqual({ stdout: 1_600_000, stderr: 0 })
  const middle = await streams.read(aFence(), { stdout: 2_000_000, stderr: 11 }, { maxBytes: 10 })
  expect(Buffer.concat(middle.pieces.map(piece => piece.bytes)).toString()).toBe(text.slice(2_000_000, 2_000_010))
})

it('keeps bytes that come between the copy of their attempt and the commit of its seal', async () => {
  await append(aChunk(0, 'early\n'))
  end(1)
  await restart()
  house.disk.beforeSync = () => append(aChunk(6, 'meanwhile\n'))
  await streams.sweep()
  expect(house.disk.beforeSync).toBe(null)
  expect(house.table.allRows().chunks.map(row => row.offset)).toEqual([6])
  expect((await readAll(streams, aFence())).stdout).toBe('early\nmeanwhile\n')
  await restart()
  await streams.sweep()
  expect(house.table.allRows().chunks).toEqual([])
  expect((await readAll(streams, aFence())).stdout).toBe('early\nmeanwhile\n')
  expect(await checkStreams(house.folder, house.table.allRows())).toEqual([])
})

it('takes bytes during the commit of a seal without waiting for it', async () => {
  await append(aChunk(0, 'early\n'))
  end(1)
  await restart()
  house.onCommit = async rows => {
    house.onCommit = null
    await append(aChunk(6, 'late\n'))
    house.table.commit(rows)
  }
  await streams.sweep()
  expect((await readAll(streams, aFence())).stdout).toBe('early\nlate\n')
  await restart()
  expect((await readAll(streams, aFence())).stdout).toBe('early\nlate\n')
})

it('only deletes rows when a crash left them behind a seal', async () => {
  await append(aChunk(0, 'once\n'))
  end(1)
  await restart()
  const stale = house.table.allRows().chunks
  house.onCommit = async rows => {
    if (rows.some(write => write.op === 'delete')) throw new Error('crash')
    house.table.commit(rows)
  }
  await expect(streams.sweep()).rejects.toThrow('crash')
  expect(house.table.allRows().chunks).toEqual(stale)
  house.onCommit = null
  await restart()
  expect((await readAll(streams, aFence())).stdout).toBe('once\n')
  await streams.sweep()
  expect(await house.files()).toEqual({ segments: ['3.seg'], packs: ['1.pack'] })
  expect((await readAll(streams, aFence())).stdout).toBe('once\n')
})

it('goes on reading for a viewer whose segment is deleted meanwhile', async () => {
  await append(aChunk(0, 'one\n'))
  end(1)
  await restart()
  expect((await readAll(streams, aFence())).stdout).toBe('one\n')
  const [, seen] = await Promise.all([streams.sweep(), ...Array.from({ length: 20 }, () => readAll(streams, aFence()))])
  expect(seen?.stdout).toBe('one\n')
  expect((await readAll(streams, aFence())).stdout).toBe('one\n')
})

it('loses nothing when the commit of a seal fails, and removes the pack nobody refers to', async () => {
  await append(aChunk(0, 'safe\n'))
  end(1)
  await restart()
  house.onCommit = () => Promise.reject(new Error('the store said no'))
  await expect(streams.sweep()).rejects.toThrow('the store said no')
  expect((await house.files()).packs).toEqual(['1.pack'])
  expect((await readAll(streams, aFence())).stdout).toBe('safe\n')
  await restart()
  expect((await house.files()).packs).toEqual([])
  house.onCommit = null
  await streams.sweep()
  expect(await house.files()).toEqual({ segments: ['3.seg'], packs: ['2.pack'] })
  expect((await readAll(streams, aFence())).stdout).toBe('safe\n')
})

it('removes such a pack without a restart too', async () => {
  await append(aChunk(0, 'safe\n'))
  end(1)
  await restart()
  house.onCommit = () => Promise.reject(new Error('the store said no'))
  await expect(streams.sweep()).rejects.toThrow('the store said no')
  house.onCommit = null
  await streams.sweep()
  expect((await house.files()).packs).toEqual(['2.pack'])
})

it('removes packs a crash left unfinished', async () => {
  await writeFile(join(house.folder, 'packs', '7.unfinished'), 'half')
  await restart()
  expect((await house.files()).packs).toEqual([])
})

it('leaves no pack behind when the disk is full, and seals when there is room', async () => {
  await append(aChunk(0, 'safe\n'))
  end(1)
  await restart()
  house.disk.roomBytes = 30
  await expect(streams.sweep()).rejects.toThrow('the disk is full')
  expect((await house.files()).packs).toEqual([])
  house.disk.roomBytes = Number.POSITIVE_INFINITY
  await streams.sweep()
  expect((await readAll(streams, aFence())).stdout).toBe('safe\n')
  expect((await house.files()).segments).toEqual(['2.seg'])
})

it('seals the healthy attempts beside a damaged one, keeps that one and says so', async () => {
  await append(aChunk(0, 'broken\n', of(1)), aChunk(0, 'healthy\n', of(2)))
  end(1, 2)
  const file = await open(join(house.folder, 'segments', '1.seg'), 'r+')
  await file.write(Buffer.from('X'), 0, 1, 16 + 48)
  await file.close()
  await restart()
  await expect(streams.sweep()).rejects.toThrow('1 outputs should be sealed, they are damaged')
  expect((await readAll(streams, aFence(2))).stdout).toBe('healthy\n')
  expect((await house.files()).segments).toEqual(['1.seg', '2.seg'])
  expect(house.table.allRows().chunks.map(row => row.job)).toEqual([1])
  await expect(readAll(streams, aFence(1))).rejects.toThrow('checksum')
})

it('deletes no row behind a hole, as its bytes cannot be copied', async () => {
  await append(aChunk(0, 'one\n'))
  const lost = await streams.append([aChunk(4, 'lost\n')])
  streams.committed(lost)
  await append(aChunk(9, 'behind\n'))
  end(1)
  await restart()
  await expect(streams.sweep()).rejects.toThrow('1 outputs should be sealed, they are damaged')
  expect(house.table.allRows().chunks.map(row => row.offset)).toEqual([0, 9])
  expect((await house.files()).packs).toEqual([])
})
