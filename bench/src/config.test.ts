import { expect, it } from 'vitest'
import { MEASURES, readOptions } from './config.ts'

it('measures the short list unless told otherwise', () => {
  const short = ['submit', 'bulk', 'memory', 'latency', 'processes', 'sandbox', 'noop', 'recovery', 'cli']
  expect(readOptions([])).toMatchObject({ isShort: true, only: short, outFile: 'bench/results/latest.json' })
  expect(readOptions(['--all'])).toMatchObject({ isShort: false, only: MEASURES, profileFolder: null })
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
