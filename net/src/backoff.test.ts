import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nextDelayMs, retrying } from './backoff.ts'

const backoff = { baseMs: 100, maxMs: 1_000 }
const noWait = async () => {}

test('the range doubles from the base and ends at the maximum', () => {
  const highest = (attempt: number) => nextDelayMs({ ...backoff, attempt, random: () => 1 })
  expect([0, 1, 2, 3, 4, 5_000].map(highest)).toEqual([100, 200, 400, 800, 1_000, 1_000])
})

test('no delay is below half the base or above the maximum, whatever the dice say', () => {
  fc.assert(
    fc.property(fc.nat(2_000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (attempt, dice) => {
      const delay = nextDelayMs({ ...backoff, attempt, random: () => dice })
      expect(delay).toBeGreaterThanOrEqual(50)
      expect(delay).toBeLessThanOrEqual(1_000)
    }),
  )
})

test('a maximum below the base is kept to', () => {
  expect(nextDelayMs({ baseMs: 100, maxMs: 10, attempt: 3, random: () => 1 })).toBe(10)
  expect(nextDelayMs({ baseMs: 100, maxMs: 10, attempt: 3, random: () => 0 })).toBe(5)
})

test('work is repeated with growing delays until it succeeds', async () => {
  const delays: number[] = []
  const work = async (attempt: number) => {
    if (attempt < 3) throw new Error('not yet')
    return attempt
  }
  const wait = async (delayMs: number) => delays.push(delayMs)
  expect(await retrying(work, { ...backoff, random: () => 1, wait })).toBe(3)
  expect(delays).toEqual([100, 200, 400])
})

test('the last allowed attempt gives its own error without another wait', async () => {
  let waits = 0
  const work = (attempt: number) => Promise.reject(new Error(`attempt ${attempt}`))
  const wait = async () => waits++
  await expect(retrying(work, { ...backoff, attempts: 3, wait })).rejects.toThrow('attempt 2')
  expect(waits).toBe(2)
})

test('a failure that is not temporary is not repeated', async () => {
  let calls = 0
  const work = () => Promise.reject(new Error(`call ${++calls}`))
  await expect(retrying(work, { ...backoff, isTemporary: () => false, wait: noWait })).rejects.toThrow('call 1')
})

test('an abort in the middle of a wait rejects with its reason at once', async () => {
  const stop = new AbortController()
  const work = () => {
    setImmediate(() => stop.abort(new Error('shutting down')))
    return Promise.reject(new Error('refused'))
  }
  const hours = { baseMs: 9e6, maxMs: 9e6, signal: stop.signal }
  await expect(retrying(work, hours)).rejects.toThrow('shutting down')
})

test('after an abort the work is not started', async () => {
  let calls = 0
  const work = async () => ++calls
  await expect(retrying(work, { ...backoff, signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone')
  expect(calls).toBe(0)
})
