import { expect, test } from 'vitest'
import { shapeOf } from '../engine/shape-of.ts'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { Devices } from './devices.ts'
import { FitByClass } from './fit.ts'
import { Pool } from './pool.ts'
import { Room } from './room.ts'

/** A worker with devices that are all taken, and a free one of another class without any. */
function aPool(): Pool {
  const house = new TestHouse()
  house.join(aHello('w0', { gpus: 2, cpus: 8, tags: ['a'] }))
  house.submit(aJob({ command: 'x', resources: { gpus: 2, cpus: 1 } }))
  house.join(aHello('w1', { cpus: 2, tags: ['b'] }))
  const devices = new Devices(house.state)
  return new Pool(
    [...house.state.workers.values()].map(worker => new Room(worker, devices)),
    () => room => room.freeShare,
  )
}

test.each([
  ['a device, where all are taken', { gpus: 1 }, [], false],
  ['many CPUs, where a worker of another class has them', { cpus: 7 }, ['b'], false],
  ['few CPUs', { cpus: 2 }, ['b'], true],
  ['many CPUs beside a job', { cpus: 7 }, ['a'], true],
] as const)('a pool knows without a look at its rooms who asks in vain: %s', (_, resources, require, mayHave) => {
  const { spec } = aJob({ command: 'x', resources, placement: { tags: { require: [...require] } } })
  const shape = shapeOf(spec)
  expect(aPool().mayHave(shape, new FitByClass(shape))).toBe(mayHave)
})

test('a job that names its worker looks for itself', () => {
  const shape = shapeOf(aJob({ command: 'x', resources: { gpus: 1 }, placement: { worker: 'w0' } }).spec)
  expect(aPool().mayHave(shape, new FitByClass(shape))).toBe(true)
})
