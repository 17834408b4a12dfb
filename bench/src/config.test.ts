import { expect, it } from 'vitest'
import { MEASURES, readOptions } from './config.ts'

it('measures the short list unless told otherwise', () => {
  expect(readOptions([])).toMatchObject({ isShort: true, outFile: 'bench/results/latest.json', profileFolder: null })
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
