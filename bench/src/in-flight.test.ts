import { expect, it } from 'vitest'
import { rateOf } from './in-flight.ts'
import { submitInBatches } from './submit-in-batches.ts'

it('makes exactly the calls asked for, never more than so many at once', async () => {
  const seen: number[] = []
  let now = 0
  let most = 0
  const rate = await rateOf(23, 5, async index => {
    seen.push(index)
    now += 1
    most = Math.max(most, now)
    await new Promise(resolve => setImmediate(resolve))
    now -= 1
  })
  expect(seen).toEqual(Array.from({ length: 23 }, (_, i) => i))
  expect(most).toBe(5)
  expect(rate).toBeGreaterThan(0)
})

it('cuts any number of jobs into batches of a thousand and a rest', async () => {
  for (const [jobs, batches] of [
    [400, [400]],
    [2500, [1000, 1000, 500]],
    [4000, [1000, 1000, 1000, 1000]],
  ] as const) {
    const sizes: number[] = []
    await submitInBatches(jobs, async count => sizes.push(count))
    expect(sizes.sort((a, b) => b - a)).toEqual(batches)
  }
})
