import { expect, it } from 'vitest'
import { MEASURES, readOptions } from './config.ts'

it('measures the short list unless told otherwise', () => {
  const short = ['submit', 'bulk', 'memory', 'latency', 'processes', 'sandbox', 'noop', 'recovery', 'cli']
  expect(readOptions([])).toMatchObject({ isShort: true, only: short, outFile: 'bench/results/latest.json' })
  expect(readOptions([])).toMatchObject({ longestMs: 300_000, repeatMs: 0, profileFolder: null })
})

it('measures everything when told so, and may take longer', () => {
  expect(readOptions(['--all'])).toMatchObject({
    only: MEASURES,
    isShort: false,
    longestMs: 7_200_000,
    repeatMs: 1_200_000,
  })
})

it('soaks as long as it is told, a minute at least', () => {
  expect(readOptions(['--only', 'soak', '--soak-minutes', '10'])).toMatchObject({ soakMinutes: 10 })
  expect(() => readOptions(['--soak-minutes', 'x'])).toThrow('--soak-minutes is 1 or more, found "x"')
})

it('measures again for as long as it is told, or not at all', () => {
  expect(readOptions(['--all', '--repeat-minutes', '0'])).toMatchObject({ repeatMs: 0, longestMs: 4_800_000 })
  expect(() => readOptions(['--repeat-minutes', 'x'])).toThrow('--repeat-minutes is 0 or more, found "x"')
})

it('measures what is named, in that order', () => {
  expect(readOptions(['--only', 'noop,submit'])).toMatchObject({ only: ['noop', 'submit'] })
})

it('names what it knows when asked for something else', () => {
  expect(() => readOptions(['--only', 'nop'])).toThrow(`--only found "nop"; allowed: ${MEASURES.join(', ')}`)
})

it('measures everything when told so', () => {
  expect(readOptions(['--all'])).toMatchObject({ only: MEASURES, isShort: false })
  expect(readOptions(['--only', 'submit'])).toMatchObject({ isShort: true })
})
