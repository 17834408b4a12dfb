import { beforeEach, expect, it } from 'vitest'
import { aChunk, aFence, readAll } from './contract/reading.ts'
import { RowTable } from './contract/row-table.ts'
import { openMemoryStreams } from './memory/memory-streams.ts'
import type { OutputChunk, Streams } from './port.ts'

/** Loading an attempt is the sign that it was not in memory. */
class CountingTable extends RowTable {
  loads = 0

  override hasOutput(job: number, epoch: number, attempt: number) {
    this.loads++
    return super.hasOutput(job, epoch, attempt)
  }
}

let table: CountingTable
let streams: Streams

beforeEach(() => {
  table = new CountingTable()
  streams = openMemoryStreams({ queries: table })
})

async function append(...chunks: OutputChunk[]): Promise<void> {
  const rows = await streams.append(chunks)
  table.commit(rows)
  streams.committed(rows)
}

it('loads an attempt once while its bytes come in', async () => {
  for (let offset = 0; offset < 10; offset++) await append(aChunk(offset, 'x'))
  expect(table.loads).toBe(1)
})

it('lets an ended attempt leave memory, and loads it again for late bytes', async () => {
  await append(aChunk(0, 'x'))
  streams.ended(aFence())
  await append(aChunk(1, 'y'))
  expect(table.loads).toBe(2)
})

it('keeps an ended attempt until its last rows are committed', async () => {
  const rows = await streams.append([aChunk(0, 'x')])
  streams.ended(aFence())
  expect(await streams.append([aChunk(0, 'x')])).toEqual(rows)
  expect(table.loads).toBe(1)
  table.commit(rows)
  streams.committed(rows)
  await append(aChunk(1, 'y'))
  expect(table.loads).toBe(2)
})

it('lets a quiet attempt leave memory at the second sweep, and forgets nothing by that', async () => {
  await append(aChunk(0, 'x'))
  await streams.append([aChunk(0, 'not committed', { fence: aFence(2) })])
  const { loads } = table
  await streams.sweep()
  await append(aChunk(1, 'y'))
  expect(table.loads).toBe(loads)
  await streams.sweep()
  await streams.sweep()
  expect(await streams.append([aChunk(0, 'not committed', { fence: aFence(2) })])).toHaveLength(1)
  expect(table.loads).toBe(loads)
  await append(aChunk(2, 'z'))
  expect(table.loads).toBe(loads + 1)
  expect((await readAll(streams, aFence())).stdout).toBe('xyz')
})

it('rejects the append, not those behind it, when an attempt cannot be loaded', async () => {
  await append(aChunk(0, 'x'))
  const hasOutput = table.hasOutput.bind(table)
  table.hasOutput = () => Promise.reject(new Error('the store is away'))
  const failing = streams.append([aChunk(0, 'a', { fence: aFence(2) })])
  const behind = append(aChunk(1, 'y'))
  await expect(failing).rejects.toThrow('the store is away')
  await behind
  table.hasOutput = hasOutput
  await append(aChunk(0, 'a', { fence: aFence(2) }))
  expect((await readAll(streams, aFence(2))).stdout).toBe('a')
})
