import { expect, it } from 'vitest'
import { Bandwidth } from './bandwidth.ts'

function virtual() {
  const clock = { time: 0 }
  const wait = async (ms: number) => {
    clock.time += ms
  }
  return { clock, now: () => clock.time, wait }
}

it('lets through what the cap allows, after a short burst', async () => {
  const { clock, ...time } = virtual()
  const bandwidth = new Bandwidth(1_000_000, time)
  for (let i = 0; i < 100; i += 1) await bandwidth.take(100_000)
  expect(clock.time).toBeGreaterThanOrEqual(9_800)
  expect(clock.time).toBeLessThanOrEqual(10_000)
})

it('shares the cap between all that take', async () => {
  const started = performance.now()
  const bandwidth = new Bandwidth(1_000_000)
  await Promise.all([1, 2, 3, 4].map(() => bandwidth.take(150_000)))
  expect(performance.now() - started).toBeGreaterThanOrEqual(395)
})
