import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestHub, type TestHub } from '../../api/test-hub.ts'
import { HARDWARE, TestWorker } from '../../api/test-worker.ts'
import { DeviceNumbers } from './device-numbers.ts'

let hub: TestHub
beforeEach(async () => {
  hub = await openTestHub()
})
afterEach(() => hub.close())

const gpu = (uuid: string, index: number) => ({ index, uuid, name: 'g', memoryMb: 1, driver: null, simulated: true })
const machine = (name: string, ...uuids: readonly string[]) => ({
  name,
  hardware: { ...HARDWARE, gpus: uuids.map((uuid, i) => gpu(uuid, uuids.length - 1 - i)) },
})

it('numbers devices in the order they are met, those of a machine by index, and never changes a number', async () => {
  let kept: readonly string[] = []
  const remembered = {
    read: async () => kept,
    write: async (uuids: readonly string[]) => {
      kept = uuids
    },
  }
  await TestWorker.join(hub, machine('a', 'a1', 'a0'))
  const first = await DeviceNumbers.open(remembered, hub.engine)
  await TestWorker.join(hub, machine('b', 'b0'))
  await first.numbers.settled()
  const numbers = (of: DeviceNumbers) => ['a0', 'a1', 'b0', 'c0'].map(uuid => of.of(uuid))
  expect(numbers(first.numbers)).toEqual([0, 1, 2, null])
  await first.close()
  kept = ['c0', ...kept]
  const second = await DeviceNumbers.open(remembered, hub.engine)
  expect(numbers(second.numbers)).toEqual([1, 2, 3, 0])
  await second.close()
})
