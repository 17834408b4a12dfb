import { expect, it } from 'vitest'
import type { MeasureName } from './config.ts'
import { bestOf, repeats, type Take, takeAll } from './takes.ts'

/** The processor takes these times around the measures, one after the other; every take finds another figure. */
function aRun(
  times: readonly (number | readonly [workMs: number, stolenShare: number])[],
  { repeatMs = Number.POSITIVE_INFINITY } = {},
) {
  const order: string[] = []
  const left = [...times]
  const take = async (name: MeasureName): Promise<Take> => {
    order.push(name)
    const [workMs, stolenShare] = [left.shift() ?? Number.NaN, 0].flat() as [number, number]
    const fsync = { p50Ms: 1, p99Ms: 1 }
    return {
      findings: { simulator: { ours: [order.length], peers: {} } },
      stretch: { name, workMs, fsync, foreignShare: 0, stolenShare },
    }
  }
  const calm = async () => {
    order.push('calm')
  }
  return { order, ports: { take, calm, now: () => order.length, repeatMs } }
}

it('measures once what the processor was equally quick around', async () => {
  const { order, ports } = aRun([10, 12.9, 11])
  const takes = await takeAll(['submit', 'bulk', 'noop'], ports)
  expect(order).toEqual(['submit', 'bulk', 'noop'])
  expect(repeats(takes)).toEqual([])
})

it('measures again, after a calm, what it was slow around, and takes the quickest time whatever was found', async () => {
  const { order, ports } = aRun([10, 20, 18, 15, 11, 16])
  const takes = await takeAll(['submit', 'bulk', 'noop'], ports)
  expect(order).toEqual(['submit', 'bulk', 'noop', 'calm', 'bulk', 'calm', 'noop', 'calm', 'bulk'])
  expect(bestOf(takes.get('noop') ?? []).findings.simulator?.ours).toEqual([7])
  expect(repeats(takes)[1]).toBe(
    'noop was measured 2 times (the same work took 18.0, then 11.0 ms); the quickest of these times counts.',
  )
})

it('counts what was stolen in the midst of a measure as slowness, too', async () => {
  const { order, ports } = aRun([10, [10, 0.4], [11, 0.05]])
  const takes = await takeAll(['submit', 'bulk'], ports)
  expect(order).toEqual(['submit', 'bulk', 'calm', 'bulk'])
  expect(bestOf(takes.get('bulk') ?? []).findings.simulator?.ours).toEqual([4])
  expect(repeats(takes)[0]).toContain('the same work took 16.7, then 11.6 ms')
})

it('sees the slowness of the first measure once a later one was quicker', async () => {
  const { order, ports } = aRun([20, 10, 10])
  await takeAll(['submit', 'bulk'], ports)
  expect(order).toEqual(['submit', 'bulk', 'calm', 'submit'])
})

it('gives up after three takes, does not repeat what takes many minutes, and ends when it took long enough', async () => {
  const tireless = aRun([10, 20, 20, 20])
  await takeAll(['submit', 'bulk'], tireless.ports)
  expect(tireless.order.filter(name => name === 'bulk')).toHaveLength(3)
  const long = aRun([10, 20, 20])
  await takeAll(['submit', 'soak', 'curves'], long.ports)
  expect(long.order).toEqual(['submit', 'soak', 'curves'])
  const late = aRun([10, 20, 20, 20], { repeatMs: 2 })
  await takeAll(['submit', 'bulk', 'noop'], late.ports)
  expect(late.order).toEqual(['submit', 'bulk', 'noop', 'calm', 'bulk'])
  const short = aRun([10, 20], { repeatMs: 0 })
  await takeAll(['submit', 'bulk'], short.ports)
  expect(short.order).toEqual(['submit', 'bulk'])
})
