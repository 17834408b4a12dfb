import { describe, expect, it } from 'vitest'
import { formatDuration, formatSize, parseDuration, parseSize } from './quantity.ts'

describe('parseSize', () => {
  it.each([
    ['24GB', 24e9],
    ['16Gi', 16 * 2 ** 30],
    ['16GiB', 16 * 2 ** 30],
    ['1.5MB', 1.5e6],
    ['512k', 512e3],
    ['0', 0],
    [1024, 1024],
  ])('reads %s', (text, bytes) => expect(parseSize(text)).toBe(bytes))

  it.each(['-3GB', '24 QB', '', 'GB', '1e3', Number.NaN, -1])('refuses %s', text => expect(parseSize(text)).toBeNull())
})

describe('parseDuration', () => {
  it.each([
    ['90s', 90_000],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['2d', 172_800_000],
    ['45', 45_000],
    [1.5, 1500],
  ])('reads %s', (text, ms) => expect(parseDuration(text)).toBe(ms))

  it.each(['ten', '5x', '-1s', '', '1h-5m', '5 5s'])('refuses %s', text => expect(parseDuration(text)).toBeNull())
})

it('formats sizes and durations for people', () => {
  expect([0, 999, 24e9, 1536].map(formatSize)).toEqual(['0 B', '999 B', '24 GB', '1.5 kB'])
  expect([850, 1500, 12_000, 200_000, 7_500_000, 90_000_000].map(formatDuration)).toEqual([
    '850 ms',
    '1.5 s',
    '12 s',
    '3 m 20 s',
    '2 h 5 m',
    '1 d 1 h',
  ])
})
