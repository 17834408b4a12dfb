import { describe, expect, it } from 'vitest'
import { parseLine } from './event.ts'

describe('a line on stdout', () => {
  it.each([
    '{"event": "text_delta", "delta": "Hello "}',
    '{"type": "text_delta", "data": {"delta": "Hello "}}',
    '{"event": "text_delta", "data": {"delta": "Hello "}}',
  ])('is the same event in each of the three forms: %s', line => {
    expect(parseLine(line, 'stdout')).toEqual({ event: 'text_delta', fields: { delta: 'Hello ' } })
  })

  it('takes the older spellings', () => {
    expect(parseLine('{"event":"log","log":"x"}', 'stdout').event).toBe('logs')
    expect(parseLine('{"event":"task_finish","status":"failed"}', 'stdout')).toEqual({
      event: 'finish',
      fields: { status: 'failed' },
    })
  })

  it('prefers a known type over event, and keeps unknown fields', () => {
    expect(parseLine('{"type":"worker","event":"other","status":"odd","model":"m"}', 'stdout')).toEqual({
      event: 'worker',
      fields: { event: 'other', status: 'odd', model: 'm' },
    })
  })

  it('falls back to event when type is unknown', () => {
    expect(parseLine('{"type":"x","event":"text","content":"hi"}', 'stdout')).toEqual({
      event: 'text',
      fields: { type: 'x', content: 'hi' },
    })
  })

  it.each(['plain words', '{"event": "unknown", "x": 1}', '{"a": 1}', '{broken', '[1]', '{"event":"constructor"}'])(
    'is a log line otherwise: %s',
    line => {
      expect(parseLine(line, 'stdout')).toEqual({
        event: 'logs',
        fields: { log: line, level: 'info', stream: 'stdout' },
      })
    },
  )

  it('sets the level by its prefix', () => {
    expect(parseLine('ERROR: out of luck', 'stdout').fields.level).toBe('error')
    expect(parseLine('WARNING: odd', 'stderr').fields.level).toBe('warning')
  })
})

it('never reads stderr as events', () => {
  const line = '{"event":"finish","status":"completed"}'
  expect(parseLine(line, 'stderr')).toEqual({ event: 'logs', fields: { log: line, level: 'info', stream: 'stderr' } })
})
