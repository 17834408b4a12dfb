import { expect, it } from 'vitest'
import { parseHistogram, quantileBetween } from './hub-figures.ts'

const text = (counts: readonly number[]) =>
  ['0.1', '0.2', '+Inf']
    .map((bound, i) => `plan_seconds_bucket{le="${bound}"} ${counts[i]}`)
    .concat('plan_seconds_sum 3', 'other_bucket{le="0.1"} 7')
    .join('\n')

it('reads one histogram among others', () => {
  expect([...parseHistogram(text([1, 2, 3]), 'plan_seconds')]).toEqual([
    [0.1, 1],
    [0.2, 2],
    [Infinity, 3],
  ])
  expect(() => parseHistogram(text([1, 2, 3]), 'walk_seconds')).toThrow('should hold walk_seconds')
})

it('takes quantiles of what came between two looks', () => {
  const before = parseHistogram(text([5, 5, 5]), 'plan_seconds')
  const after = parseHistogram(text([5, 15, 15]), 'plan_seconds')
  expect(quantileBetween(before, after, 0.5)).toBeCloseTo(0.15)
  expect(quantileBetween(before, parseHistogram(text([5, 5, 9]), 'plan_seconds'), 0.5)).toBe(0.2)
  expect(() => quantileBetween(before, before, 0.5)).toThrow('nothing came between')
})
