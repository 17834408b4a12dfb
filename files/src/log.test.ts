import { expect, it } from 'vitest'
import { createLog, type LogOptions, logChoice } from './log.ts'

function written(options: Pick<LogOptions, 'format' | 'level'>): string[] {
  const lines: string[] = []
  const log = createLog({ part: 'hub', now: () => 0, write: line => lines.push(line), ...options })
  log('debug', 'small')
  log('info', 'it "works"', { worker: 'rig', jobs: 2 })
  log('warn', 'two\nlines')
  return lines
}

it('is a sentence for people', () => {
  expect(written({ format: 'text', level: 'info' })).toEqual(['stoker hub: it "works"\n', 'stoker hub: two\nlines\n'])
})

it('is one JSON object a line for machines, with the same sentence and its facts', () => {
  expect(written({ format: 'json', level: 'debug' }).map(line => JSON.parse(line))).toEqual([
    { time: '1970-01-01T00:00:00.000Z', level: 'debug', part: 'hub', text: 'small' },
    { time: '1970-01-01T00:00:00.000Z', level: 'info', part: 'hub', text: 'it "works"', worker: 'rig', jobs: 2 },
    { time: '1970-01-01T00:00:00.000Z', level: 'warn', part: 'hub', text: 'two\nlines' },
  ])
})

it('leaves out what is below its level', () => {
  expect(written({ format: 'text', level: 'error' })).toEqual([])
})

it('takes only the words it knows', () => {
  expect(logChoice({ format: undefined, level: undefined })).toEqual({ format: 'text', level: 'info' })
  expect(() => logChoice({ format: 'xml', level: undefined })).toThrow('--log-format is one of text, json, found xml')
  expect(() => logChoice({ format: 'json', level: 'loud' })).toThrow(
    '--log-level is one of debug, info, warn, error, found loud',
  )
})
