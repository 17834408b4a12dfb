import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { inTurns } from './in-turns.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('each is done once in a period, one after the other', () => {
  const done: string[] = []
  const timer = inTurns(
    1000,
    ['a', 'b', 'c', 'd'].map(name => () => done.push(`${name} ${performance.now()}`)),
  )
  const start = performance.now()
  vi.advanceTimersByTime(2000)
  clearInterval(timer)
  const at = (name: string, ms: number) => `${name} ${start + ms}`
  const first = [at('a', 250), at('b', 500), at('c', 750), at('d', 1000)]
  expect(done).toEqual([...first, at('a', 1250), at('b', 1500), at('c', 1750), at('d', 2000)])
})
