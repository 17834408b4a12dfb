import { expect, test } from 'vitest'
import { type Amounts, playOnce, type QueueModel } from './queue-model.ts'

const amounts = (slots: number, cpus: number): Amounts => ({ slots, cpusMilli: cpus * 1000, memoryMb: 0, gpus: 0 })
const one = amounts(1, 1)
const lasting = (jobs: number, takes: Amounts, ms: number, rank = 0) => ({
  jobs,
  takes,
  rank,
  lasts: () => ms,
  fits: [true],
})
const model = (rest: Partial<QueueModel>): QueueModel => ({
  servers: [amounts(0, 0)],
  running: [],
  ahead: [],
  behind: [],
  takes: one,
  ...rest,
})
const running = (takes: Amounts, ms: number) => ({ server: 0, takes, remaining: () => ms })
const play = (rest: Partial<QueueModel>): number => playOnce(model(rest), () => 0)

test('a job starts when what runs has ended and those ahead have started', () => {
  expect(play({ servers: [one] })).toBe(0)
  expect(play({ running: [running(one, 50)] })).toBe(50)
  expect(play({ running: [running(one, 50)], ahead: [lasting(3, one, 10)] })).toBe(80)
})

test('nobody knows when, if what runs may run for ever', () => {
  expect(play({ running: [running(one, Number.POSITIVE_INFINITY)] })).toBe(Number.POSITIVE_INFINITY)
})

test('a large job waits for room in one place while smaller ones pass, until a worker is kept for it', () => {
  const two = amounts(1, 2)
  const busy = [running(amounts(1, 1), 100), running(amounts(1, 1), 5000)]
  const shared = { servers: [amounts(5, 0)], running: busy, takes: two }
  expect(play(shared)).toBe(5000)
  expect(play({ ...shared, behind: [lasting(1000, amounts(1, 1), 7000)] })).toBeGreaterThan(60_000)
})

test('a long queue is reckoned from its rate', () => {
  const delay = play({ running: [running(one, 10)], ahead: [lasting(100_000, one, 10)] })
  expect(delay / 1_000_000).toBeGreaterThan(0.9)
  expect(delay / 1_000_000).toBeLessThan(1.1)
})
