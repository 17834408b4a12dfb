import { expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './test-house.ts'
import { UntouchedWorkers } from './untouched.ts'

const GPU_JOB = { command: 'x', resources: { gpus: 1 } }

function houseWith(...names: string[]): TestHouse {
  const house = new TestHouse()
  for (const name of names) house.join(aHello(name, { gpus: 1 }))
  return house
}

it('an idle worker is untouched until it has a job, and again when that is over', () => {
  const house = houseWith('w')
  expect(house.state.untouched.has('w')).toBe(true)
  const job = house.submit(aJob({ command: 'x', resources: { cpus: 0 } }))
  expect(house.state.untouched.has('w')).toBe(false)
  house.report('w', house.ended(house.fenceOf(job), 'completed'))
  expect(house.state.untouched.has('w')).toBe(true)
})

it('a worker that declined a job rests for a while, and is touched as long', () => {
  const house = houseWith('w')
  const job = house.submit(aJob(GPU_JOB))
  house.report('w', { kind: 'declined', fence: house.fenceOf(job), at: house.now.wall, reason: 'no room' })
  expect(house.state.untouched.has('w')).toBe(false)
  house.run({ kind: 'cancel', job, by: 'ann' })
  house.pass(120, ['w'])
  expect(house.state.untouched.has('w')).toBe(true)
})

it('what is wrong with a device, or whoever else uses it, touches its worker', () => {
  const house = houseWith('w')
  const isUntouchedAfter = (foreignMb: number | null, fault: string | null) => {
    house.tellDevices('w', [{ uuid: 'w-gpu-0', foreignMb, fault }])
    return house.state.untouched.has('w')
  }
  expect(isUntouchedAfter(700, null)).toBe(false)
  expect(isUntouchedAfter(0, null)).toBe(true)
  expect(isUntouchedAfter(0, 'fell off the bus')).toBe(false)
  expect(isUntouchedAfter(null, null)).toBe(true)
  house.run({ kind: 'quarantine', uuid: 'w-gpu-0', reason: 'hot', by: 'ann' })
  expect(house.state.untouched.has('w')).toBe(false)
})

it('workers that show one device are never untouched: what one gives away the other has no more', () => {
  const house = houseWith('w')
  const { hardware } = aHello('w', { gpus: 1 })
  house.join(aHello('v', { hardware }))
  expect([house.state.untouched.has('v'), house.state.untouched.has('w')]).toEqual([false, false])
})

it('of those that are alike, as many as asked for come first as they joined, beside all others', () => {
  const house = houseWith('a', 'b', 'c', 'd')
  house.join(aHello('e', { gpus: 2 }))
  house.submit(aJob({ ...GPU_JOB, placement: { worker: 'c' } }))
  const { untouched } = house.state
  const all = () => true
  expect(untouched.some(1, new Set(), all)).toEqual(['a', 'c', 'e'])
  expect(untouched.some(1, new Set(['d']), id => id !== 'a')).toEqual(['b', 'c', 'd', 'e'])
  expect(untouched.some(9, new Set(), all)).toEqual(['a', 'b', 'c', 'd', 'e'])
})

it('one that changes keeps its place, and one that is gone is in nobody’s way', () => {
  const known = new UntouchedWorkers()
  const house = houseWith('a', 'b')
  for (const worker of house.state.workers.values()) known.join(worker)
  for (const id of ['b', 'a']) known.note(id, true)
  const [first] = house.state.workers.values()
  if (first !== undefined) known.join({ ...first, classKey: 'another' })
  expect(known.some(9, new Set(), () => true)).toEqual(['a', 'b'])
  known.leave('a')
  known.leave('a')
  expect(known.some(9, new Set(['a']), () => true)).toEqual(['b'])
})
