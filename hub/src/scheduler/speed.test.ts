import { expect, test } from 'vitest'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { planWith } from './pass.ts'
import type { Policy } from './policy.ts'
import type { Room } from './room.ts'

const SIZE = 1000
const OWNERS = 100
const JOBS = 100_000

/** A thousand idle workers of ten classes, and a hundred thousand new jobs of a thousand shapes. */
function aLargeHouse(policy: Policy): TestHouse {
  const house = new TestHouse(policy)
  for (let i = 0; i < SIZE; i += 1)
    house.join(aHello(`w${i}`, { gpus: 4, cpus: 8 + (i % 10), maxJobs: 4, memoryBytes: 64e9, tags: [`t${i % 10}`] }))
  for (let i = 0; i < SIZE; i += 1) {
    const resources = { gpus: i % 3, cpus: 1 + (i % 4), memory: (1 + (i % 50)) * 1e8 }
    const tags = { require: i % 4 === 0 ? [`t${i % 10}`] : [] }
    const one = aJob({ command: 'x', priority: i % 3, timeout: 60 + i, resources, placement: { tags } })
    const jobs = Array.from({ length: JOBS / SIZE }, () => one)
    const submit = { kind: 'submit', owner: `owner${i % OWNERS}`, jobs, key: null, failFast: false } as const
    house.core.execute(submit, { idempotency: null, dependencies: new Map() }, house.now)
  }
  return house
}

/** Counted, not timed: a busy machine counts as a quiet one does. */
test.each([
  ['filled first', (room: Room) => room.freeShare],
  ['left empty', (room: Room) => -room.cpuShare],
])('1,000 shapes on 1,000 workers for 100 owners need few looks at rooms that are %s', (_, score) => {
  let looks = 0
  const rank = (room: Room): number => {
    looks += 1
    return score(room)
  }
  const policy: Policy = { name: 'packed', plan: (view, now) => planWith(() => rank, view, now) }
  const house = aLargeHouse(policy)
  looks = 0
  house.close()
  expect(house.state.active.size).toBeGreaterThan(3000)
  expect(looks).toBeLessThan((SIZE * SIZE) / 4)
  looks = 0
  const [[job, { claim }] = [0, { claim: { worker: '' } }]] = house.state.active
  house.report(claim.worker, house.ended(house.fenceOf(job), 'completed'))
  expect(looks).toBeLessThan(20)
})
