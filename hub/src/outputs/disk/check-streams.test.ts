import { open, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { aChunk, aFence } from '../contract/reading.ts'
import { checkStreams } from './check-streams.ts'
import { buildDiskHouse, type DiskHouse } from './disk-house.ts'

let house: DiskHouse

beforeEach(async () => {
  house = await buildDiskHouse()
  const streams = await house.open()
  for (const [i, text] of ['one\n', 'two\n', 'six\n'].entries()) {
    house.table.commit(await streams.append([aChunk(i * 4, text)]))
  }
  await streams.close()
})
afterEach(() => house.dispose())

async function kinds(rows = house.table.allRows()): Promise<string[]> {
  return (await checkStreams(house.folder, rows)).map(problem => problem.kind)
}

async function seal(): Promise<void> {
  house.table.end(aFence())
  const streams = await house.open()
  await streams.sweep()
  await streams.close()
}

async function damage(name: string, position: number): Promise<void> {
  const file = await open(join(house.folder, name), 'r+')
  await file.write(Buffer.from([0xee]), 0, 1, position)
  await file.close()
}

it('finds nothing wrong with healthy streams, loose or sealed', async () => {
  expect(await kinds()).toEqual([])
  await seal()
  expect(house.table.allRows().sealed).toHaveLength(1)
  expect(await kinds()).toEqual([])
})

it('finds a changed byte in a record and names both checksums', async () => {
  await damage('segments/1.seg', 16 + 48 + 1)
  const [problem, ...others] = await checkStreams(house.folder, house.table.allRows())
  expect(others).toEqual([])
  expect(problem?.fence).toEqual(aFence())
  expect(problem?.text).toMatch(/^segment 1 at byte 16 was written with checksum \d+, its bytes give \d+$/)
})

it('finds a row that points at something else', async () => {
  const { chunks, sealed } = house.table.allRows()
  expect(await kinds({ chunks: chunks.map(row => ({ ...row, position: row.position + 1 })), sealed })).toContain(
    'damaged',
  )
})

it('finds a missing row and a repeated one', async () => {
  const { chunks, sealed } = house.table.allRows()
  expect(await kinds({ chunks: chunks.filter(row => row.offset !== 4), sealed })).toEqual(['gap'])
  expect(await kinds({ chunks: [...chunks, ...chunks.slice(1, 2)], sealed })).toEqual(['overlap'])
})

it('finds rows beyond the end of their file, and those of a file that is gone', async () => {
  const { chunks, sealed } = house.table.allRows()
  await truncate(join(house.folder, 'segments/1.seg'), 16 + 52 + 52)
  expect(await kinds()).toEqual(['beyond-file'])
  expect(await kinds({ chunks: chunks.map(row => ({ ...row, segment: 99 })), sealed })).toHaveLength(3)
})

it.each([16 + 12, -3, -60])('finds a changed byte of a pack at %i', async position => {
  await seal()
  const [row] = house.table.allRows().sealed
  if (row === undefined) throw new Error('the attempt should be sealed, it is not')
  await damage('packs/1.pack', position < 0 ? row.position + row.length + position : position)
  expect(await kinds()).toEqual(['damaged'])
})

it('finds a cut pack', async () => {
  await seal()
  await truncate(join(house.folder, 'packs/1.pack'), 20)
  expect(await kinds()).toEqual(['beyond-file'])
})
