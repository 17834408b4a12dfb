import { describe, expect, it } from 'vitest'
import { cronIssue, nextTime, timesBetween } from './cron-times.ts'

const at = (text: string) => Date.parse(text)

describe('times of a pattern', () => {
  it.each([
    ['0 3 * * *', 'UTC', '2026-01-01T02:59:59.999Z', '2026-01-01T03:00:00.000Z'],
    ['0 3 * * *', 'UTC', '2026-01-01T03:00:00.000Z', '2026-01-02T03:00:00.000Z'],
    ['0 3 * * *', 'Europe/Berlin', '2026-07-01T00:00:00Z', '2026-07-01T01:00:00.000Z'],
    ['*/10 * * * * *', 'UTC', '2026-01-01T00:00:03Z', '2026-01-01T00:00:10.000Z'],
    ['@hourly', 'UTC', '2026-01-01T00:30:00Z', '2026-01-01T01:00:00.000Z'],
  ])('%s (%s) after %s is %s', (cron, timezone, after, next) => {
    expect(nextTime(cron, timezone, at(after))).toBe(at(next))
  })

  it('come once on the day the clock goes back, and once on the day it skips them', () => {
    const runs = (from: string, to: string) => timesBetween('30 2 * * *', 'Europe/Berlin', at(from), at(to), 10)
    expect(runs('2026-10-25T00:00:00+02:00', '2026-10-25T12:00:00+01:00')).toBe(1)
    expect(runs('2026-03-29T00:00:00+01:00', '2026-03-29T12:00:00+02:00')).toBe(1)
  })

  it('are counted up to a bound', () => {
    expect(timesBetween('* * * * *', 'UTC', 0, 10 * 60_000, 1000)).toBe(10)
    expect(timesBetween('* * * * *', 'UTC', 0, 10 * 60_000, 4)).toBe(4)
  })

  it.each([
    ['0 3 * * *', 'Mars/Olympus', 'timezone', /found "Mars\/Olympus"/],
    ['61 * * * *', 'UTC', 'cron', /found "61 \* \* \* \*"; .*61/],
    ['soon', 'UTC', 'cron', /five fields/],
    ['* * * *', 'UTC', 'cron', /five fields/],
    ['2030-01-01T00:00:00', 'UTC', 'cron', /five fields/],
    ['@sometimes', 'UTC', 'cron', /found "@sometimes"/],
    ['0 0 30 2 *', 'UTC', 'cron', /no time in the future/],
  ])('refuses %s (%s) with its field', (cron, timezone, path, message) => {
    expect(cronIssue(cron, timezone, at('2026-01-01T00:00:00Z'))).toEqual({
      path,
      message: expect.stringMatching(message),
    })
  })
})
