import { expect, test } from 'vitest'
import { RunTimeBook, RunTimes } from './run-times.ts'
import { shapeOf, termsOf } from './shape-of.ts'
import { aJob } from './test-house.ts'

test('what is drawn lies where runs were, and never before the age', () => {
  const times = new RunTimes()
  expect(times.longerThan(0)).toBeNull()
  for (let i = 0; i < 90; i += 1) times.add(1000)
  for (let i = 0; i < 10; i += 1) times.add(100_000)
  expect(times.longerThan(0)?.(0.5) ?? 0).toBeGreaterThan(800)
  expect(times.longerThan(0)?.(0.5) ?? 0).toBeLessThan(1300)
  expect(times.longerThan(0)?.(0.95) ?? 0).toBeGreaterThan(80_000)
  expect(times.longerThan(5000)?.(0.1) ?? 0).toBeGreaterThan(80_000)
  expect(times.longerThan(1e9)).toBeNull()
})

test('what was seen lately counts more', () => {
  const times = new RunTimes()
  for (let i = 0; i < 5000; i += 1) times.add(1000)
  for (let i = 0; i < 3000; i += 1) times.add(60_000)
  expect(times.longerThan(0)?.(0.2) ?? 0).toBeGreaterThan(40_000)
  expect(times.seen).toBe(8000)
})

test('only so many kinds of jobs are kept', () => {
  const book = new RunTimeBook()
  const { spec } = aJob()
  const [shape, terms] = [shapeOf(spec), termsOf(spec)]
  for (let i = 0; i < 10_500; i += 1) book.add({ owner: `o${i}`, shape, terms }, 5)
  expect(book.size).toBe(10_000)
  expect(book.of({ owner: 'o0', shape, terms })).toBeNull()
  expect(book.of({ owner: 'o10499', shape, terms })?.seen).toBe(1)
})
