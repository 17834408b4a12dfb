import { expect, it } from 'vitest'
import { fineWallClock } from './wall-clock.ts'

it('never differs from the coarse clock by more than its millisecond, and goes on in fractions', () => {
  const now = fineWallClock()
  for (let i = 0; i < 1000; i += 1) {
    const before = Date.now()
    const fine = now()
    const after = Date.now()
    expect(fine).toBeGreaterThan(before - 1)
    expect(fine).toBeLessThan(after + 2)
  }
  expect(Number.isInteger(now() + now())).toBe(false)
})
