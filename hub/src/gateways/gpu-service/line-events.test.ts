import { expect, it } from 'vitest'
import { LineEvents } from './line-events.ts'

const piece = (stream: 'stdout' | 'stderr', text: string, at = 0) => ({
  stream,
  offset: 0,
  at,
  bytes: Buffer.from(text),
})

it('gives lines in the order in which they were whole, whichever stream they are of', () => {
  const lines = new LineEvents()
  expect(lines.push(piece('stdout', '{"event":"text_delta",'))).toEqual([])
  expect(lines.push(piece('stderr', 'ERROR: odd\n', 1000))).toEqual([
    {
      event: 'logs',
      data: { log: 'ERROR: odd', level: 'error', stream: 'stderr', timestamp: '1970-01-01T00:00:01.000Z' },
    },
  ])
  expect(lines.push(piece('stdout', '"delta":"a\\nb"}\n'))).toEqual([{ event: 'text_delta', data: { delta: 'a\nb' } }])
})

it('ends with what has no newline, of stdout first', () => {
  const lines = new LineEvents()
  lines.push(piece('stderr', 'err'))
  lines.push(piece('stdout', 'out'))
  expect(lines.end().map(({ data }) => data.log)).toEqual(['out', 'err'])
})

it('keeps to itself how the program says it finished', () => {
  const lines = new LineEvents()
  expect(lines.push(piece('stdout', '{"event":"finish","status":"completed"}\n{"type":"task_finish"}\n'))).toEqual([])
})

it('marks the start of a line that is too long', () => {
  const [event] = new LineEvents().push(piece('stdout', `${'x'.repeat(2 ** 20 + 5)}\n`))
  expect(String(event?.data.log)).toMatch(/^x+… \[truncated\]$/)
})
