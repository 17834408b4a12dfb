import { afterEach, beforeEach, expect, it } from 'vitest'
import { aChunk, aFence, readAll } from '../contract/reading.ts'
import type { Streams } from '../port.ts'
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

/** Each job's output in a pack of its own. */
async function sealAlone(job: number): Promise<void> {
  const rows = await streams.append([aChunk(0, `output of ${job}\n`, { fence: aFence(job) })])
  house.table.commit(rows)
  streams.committed(rows)
  house.table.end(aFence(job))
  streams.ended(aFence(job))
  await streams.close()
  streams = await house.open()
  await streams.sweep()
}

it('deletes a pack when all in it is forgotten, and leaves the others readable', async () => {
  for (const job of [1, 2, 3]) await sealAlone(job)
  expect((await house.files()).packs).toEqual(['1.pack', '2.pack', '3.pack'])
  expect((await readAll(streams, aFence(2))).stdout).toBe('output of 2\n')
  await streams.forget(async () => house.table.forget(2))
  expect((await house.files()).packs).toEqual(['1.pack', '3.pack'])
  expect((await readAll(streams, aFence(2))).stdout).toBe('')
  expect((await readAll(streams, aFence(3))).stdout).toBe('output of 3\n')
})

it('does not let a seal bring forgotten rows back', async () => {
  for (const job of [1, 2]) await sealAlone(job)
  const order: string[] = []
  const first = streams.forget(async () => {
    await new Promise(resolve => setImmediate(resolve))
    order.push('forgotten')
  })
  const second = streams.sweep().then(() => order.push('swept'))
  await Promise.all([first, second])
  expect(order).toEqual(['forgotten', 'swept'])
})
