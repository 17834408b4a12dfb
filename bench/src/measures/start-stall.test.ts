import { expect, it } from 'vitest'
import { longestWaits } from './start-stall.ts'

it('takes the longest wait of each start, and none from where nobody asked', () => {
  const samples = [
    [9, 50],
    [11, 1],
    [14, 3],
    [25, 2],
    [99, 80],
  ] as const
  expect(longestWaits([10, 20, 30], samples)).toEqual([3, 2])
})
