import { expect, test } from 'vitest'
import { Bell } from './bell.ts'

const never = new AbortController().signal

test('a ring before or during the wait ends it, and counts once', async () => {
  const bell = new Bell()
  bell.ring()
  bell.ring()
  expect(await bell.wait(60_000, never)).toBe(true)
  const waiting = bell.wait(60_000, never)
  bell.ring()
  expect(await waiting).toBe(true)
  expect(await bell.wait(1, never)).toBe(false)
})

test('the signal ends the wait at once, also one given before', async () => {
  const bell = new Bell()
  const leave = new AbortController()
  const waiting = bell.wait(60_000, leave.signal)
  leave.abort()
  await waiting
  await bell.wait(60_000, leave.signal)
})
