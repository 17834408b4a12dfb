import { expect, it } from 'vitest'
import { pauseMs, untilDone } from './until-done.ts'

it('asks again when half of the rest should be done, often only near the end', () => {
  expect(pauseMs(100, 20, 60)).toBe(120)
  expect(pauseMs(100, 99, 200)).toBe(5)
  expect(pauseMs(100_000, 1, 1_000)).toBe(200)
})

it('asks at growing distances while nothing is done', () => {
  expect([0, 5, 40].map(passed => pauseMs(100, 0, passed))).toEqual([5, 5, 40])
})

it('ends with the first answer that says all are done', async () => {
  const answers = [0, 7, 12]
  await untilDone('jobs', 10, async () => answers.shift() ?? Number.NaN)
  expect(answers).toEqual([])
})

it('passes on what goes wrong while it asks', async () => {
  const broken = untilDone('jobs', 10, () => Promise.reject(new Error('3 ended otherwise')))
  await expect(broken).rejects.toThrow('3 ended otherwise')
})
