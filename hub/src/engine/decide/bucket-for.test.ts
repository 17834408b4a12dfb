import type { JobSpecInput } from '@stoker/protocol'
import { expect, test } from 'vitest'
import { aJob, TestHouse } from '../test-house.ts'

const PLAIN: JobSpecInput = { command: 'x', placement: { tags: { require: ['a'] } } }
const OTHERS: readonly JobSpecInput[] = [
  { ...PLAIN, priority: 1 },
  { ...PLAIN, timeout: 60 },
  { ...PLAIN, resources: { gpus: 1 } },
  { ...PLAIN, retries: { max: 1, on: ['failed', 'timed_out'] } },
  { ...PLAIN, placement: { tags: { require: ['b'] } } },
  { ...PLAIN, placement: { tags: { require: ['a', 'b'] } } },
  { ...PLAIN, env: { A: '1' } },
  { ...PLAIN, environment: { requirements: 'six' } },
  { ...PLAIN, placement: { tags: { require: ['a'] }, unverified: true } },
]

test('of jobs submitted together those alike share a bucket, and one difference makes another', () => {
  const house = new TestHouse()
  const specs = OTHERS.flatMap(other => [PLAIN, PLAIN, other, other])
  const first = house.submit(...specs.map(spec => aJob(spec)))
  const buckets = specs.map((_, index) => house.state.queued.get(first + index)?.bucket)
  const plain = buckets[0]
  const others = OTHERS.map((_, index) => buckets[index * 4 + 2])
  expect(buckets).toEqual(others.flatMap(other => [plain, plain, other, other]))
  expect(new Set([plain, ...others]).size).toBe(OTHERS.length + 1)
})

test('submits one after the other share a bucket as those of one do', () => {
  const house = new TestHouse()
  const specs = OTHERS.flatMap(other => [PLAIN, PLAIN, other, other])
  const buckets = specs.map(spec => house.state.queued.get(house.submit(aJob(spec)))?.bucket)
  const plain = buckets[0]
  const others = OTHERS.map((_, index) => buckets[index * 4 + 2])
  expect(buckets).toEqual(others.flatMap(other => [plain, plain, other, other]))
  expect(new Set([plain, ...others]).size).toBe(OTHERS.length + 1)
})
