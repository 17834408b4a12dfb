import { expect, it } from 'vitest'
import { DEFAULT_RETENTION, lookEveryMs } from './settings.ts'

it('looks hourly, more often when something is kept for a short time, and never all the time', () => {
  expect(lookEveryMs(DEFAULT_RETENTION)).toBe(3_600_000)
  expect(lookEveryMs({ ...DEFAULT_RETENTION, logsMs: 120_000 })).toBe(30_000)
  expect(lookEveryMs({ ...DEFAULT_RETENTION, journalMs: 0 })).toBe(10_000)
})
