import { expect, it } from 'vitest'
import { MEASURES, readOptions } from './config.ts'

it('measures the short list unless told otherwise', () => {
  const options = readOptions([])
  expect(options).toMatchObject({ outFile: 'bench/results/latest.json', profileFolder: null, longestMs: 300_000 })
  expect(options).toMatchObject({ only: expect.not.arrayContaining(['uploads']) })
})

it('measures everything when told so, and may take longer', () => {
  expect(readOptions(['--all'])).toMatchObject({ only: MEASURES, longestMs: 4_800_000 })
})

it('soaks as long as it is told, a minute at least', () => {
  expect(readOptions(['--only', 'soak', '--soak-minutes', '10'])).toMatchObject({ soakMinutes: 10 })
  expect(() => readOptions(['--soak-minutes', 'x'])).toThrow('--soak-minutes is 1 or more, found "x"')
})

it('measures what is named, in that order', () => {
  expect(readOptions(['--only', 'noop,submit'])).toMatchObject({ only: ['noop', 'submit'] })
})

it('names what it knows when asked for something else', () => {
  expect(() => readOptions(['--only', 'nop'])).toThrow(`--only found "nop"; allowed: ${MEASURES.join(', ')}`)
})
