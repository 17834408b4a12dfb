import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Fleet } from './fleet.ts'
import { aHello, TestHouse } from './test-house.ts'

const gpu = (uuid: string, memoryMb: number) => ({
  index: 0,
  uuid,
  name: 'gpu',
  memoryMb,
  driver: null,
  simulated: true,
})
const facts = (cpus: number, gpus: readonly ReturnType<typeof gpu>[]) => {
  const house = new TestHouse()
  const hello = aHello('w0', { cpus, maxJobs: 2 })
  house.join({ ...hello, hardware: { ...hello.hardware, gpus: [...gpus] } })
  const worker = house.state.workers.get('w0')
  if (worker === undefined) throw new Error('w0 should have joined')
  return worker.facts
}

test('a device that two workers show counts once, with the smaller of what they say', () => {
  const fleet = new Fleet()
  const [one, other] = [facts(2, [gpu('a', 8000)]), facts(4, [gpu('a', 6000), gpu('b', 1000)])]
  fleet.add('one', one)
  fleet.add('other', other)
  expect(fleet).toMatchObject({ cpusMilli: 6000, slots: 4, gpus: 2, gpuMemoryMb: 7000 })
  expect(fleet.hostsOf('a')).toEqual(['one', 'other'])
  fleet.remove('other', other)
  expect(fleet).toMatchObject({ cpusMilli: 2000, slots: 2, gpus: 1, gpuMemoryMb: 8000 })
  expect(fleet.hostsOf('b')).toEqual([])
})

test('whoever came, changed and went, the sums are those of the workers that are there', () => {
  const kinds = [facts(1, []), facts(2, [gpu('a', 8000)]), facts(4, [gpu('a', 6000), gpu('b', 1000)])]
  const step = fc.record({ id: fc.constantFrom('u', 'v', 'w'), kind: fc.constantFrom(...kinds, null) })
  fc.assert(
    fc.property(fc.array(step), steps => {
      const [fleet, there] = [new Fleet(), new Map<string, (typeof kinds)[number]>()]
      for (const { id, kind } of steps) {
        const before = there.get(id)
        if (before !== undefined) fleet.remove(id, before)
        there.delete(id)
        if (kind === null) continue
        fleet.add(id, kind)
        there.set(id, kind)
      }
      const counted = new Fleet()
      for (const [id, one] of there) counted.add(id, one)
      const sums = ({ cpusMilli, memoryMb, slots, gpus, gpuMemoryMb }: Fleet) =>
        JSON.stringify([cpusMilli, memoryMb, slots, gpus, gpuMemoryMb])
      expect(sums(fleet)).toBe(sums(counted))
    }),
  )
})
