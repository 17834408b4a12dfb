import { serialize } from 'node:v8'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { QueuedJobs } from './queued-jobs.ts'

it('behaves like a sorted list per bucket under any adds and removes', () => {
  const step = fc.record({
    seq: fc.integer({ min: 1, max: 3000 }),
    bucket: fc.integer({ min: 1, max: 4 }),
    add: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3000 }), steps => {
      const queue = new QueuedJobs()
      const model = new Map<number, number>()
      for (const { seq, bucket, add } of steps) {
        if (add && !model.has(seq)) {
          queue.add({ seq, bucket, attempts: seq % 7, failures: 1, lost: 2 })
          model.set(seq, bucket)
        } else if (!add && model.has(seq)) {
          expect(queue.remove(seq)).toEqual({ seq, bucket: model.get(seq), attempts: seq % 7, failures: 1, lost: 2 })
          model.delete(seq)
        }
      }
      expect(queue.size).toBe(model.size)
      for (const bucket of [1, 2, 3, 4]) {
        const expected = [...model]
          .filter(([, b]) => b === bucket)
          .map(([seq]) => seq)
          .sort((a, b) => a - b)
        expect([...queue.walk(bucket)]).toEqual(expected)
        expect(queue.sizeOf(bucket)).toBe(expected.length)
        expect(queue.oldest(bucket)).toBe(expected[0] ?? null)
      }
    }),
    { numRuns: 60 },
  )
})

it('gives numbers below 2^31 without a box, as V8 writes them down, and greater ones as they are', () => {
  const queue = new QueuedJobs()
  const seqs = [7, 2 ** 31 - 1, 2 ** 31, 2 ** 40 + 1]
  for (const seq of seqs) queue.add({ seq, bucket: 1, attempts: 0, failures: 0, lost: 0 })
  expect([queue.oldest(1), ...queue.walk(1), queue.newest(1)]).toEqual([7, ...seqs, 2 ** 40 + 1])
  expect(Array.from(queue.walk(1), kindOf)).toEqual(['I', 'I', 'N', 'N'])
  expect([kindOf(queue.oldest(1)), kindOf(queue.newest(1))]).toEqual(['I', 'N'])
})

/** Of a number in V8's own format: `I` for an integer in place, `N` for a box with a double. */
function kindOf(number: number | null): string {
  return String.fromCharCode(serialize(number)[2] ?? 0)
}

it('holds a million jobs in about 40 bytes each', () => {
  const before = process.memoryUsage().arrayBuffers
  const queue = new QueuedJobs()
  for (let seq = 1; seq <= 1_000_000; seq += 1) queue.add({ seq, bucket: seq % 10, attempts: 0, failures: 0, lost: 0 })
  expect((process.memoryUsage().arrayBuffers - before) / 1_000_000).toBeLessThan(100)
  expect(queue.get(777_777)).toEqual({ seq: 777_777, bucket: 7, attempts: 0, failures: 0, lost: 0 })
})

it('puts a hundred thousand jobs that come back together before a younger one, each beside the last', () => {
  const queue = new QueuedJobs()
  const add = (seq: number) => queue.add({ seq, bucket: 1, attempts: 0, failures: 0, lost: 0 })
  add(1)
  add(200_000)
  for (let seq = 50_000; seq < 150_000; seq += 1) add(seq)
  for (let seq = 49_999; seq > 40_000; seq -= 1) add(seq)
  const walked = [...queue.walk(1)]
  expect(walked).toHaveLength(110_001)
  expect(walked.every((seq, index) => index === 0 || seq > (walked[index - 1] ?? 0))).toBe(true)
})
