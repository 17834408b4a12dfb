import { describe, expect, it } from 'vitest'
import { EVENT_NAMES, eventIn, type OutputStream, parseLine as parse } from './event.ts'

const parseLine = (text: string, stream: OutputStream) => parse({ text, truncated: false }, stream)

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

  it.each([
    ['ERROR: out of luck', 'error'],
    ['WARNING: odd', 'warning'],
    ['INFO: so', 'info'],
    ['DEBUG: deep', 'debug'],
    ['ERROR without a colon', 'info'],
    ['error: in small letters', 'info'],
    [' ERROR: not at the start', 'info'],
  ])('%j has the level %s on both streams', (line, level) => {
    expect(parseLine(line, 'stdout').fields).toEqual({ log: line, level, stream: 'stdout' })
    expect(parseLine(line, 'stderr').fields).toEqual({ log: line, level, stream: 'stderr' })
  })

  it.each(EVENT_NAMES)('knows %s in all three forms', name => {
    const known = { log: 'logs', task_finish: 'finish' }[name] ?? name
    for (const line of [
      { event: name, x: 1 },
      { type: name, data: { x: 1 } },
      { event: name, data: { x: 1 } },
    ])
      expect(parseLine(JSON.stringify(line), 'stdout')).toEqual({ event: known, fields: { x: 1 } })
  })

  it('is an event with space around it too, as JSON allows', () => {
    expect(parseLine(' \t{"event":"text","content":"a\\nb"} ', 'stdout')).toEqual({
      event: 'text',
      fields: { content: 'a\nb' },
    })
  })

  it.each([
    ['[1]', [1]],
    ['"x"', 'x'],
    ['null', null],
    ['7', 7],
  ])('keeps data that is no object (%s) as one of the other keys', (text, data) => {
    expect(parseLine(`{"event":"text","content":"c","data":${text}}`, 'stdout').fields).toEqual({ content: 'c', data })
  })

  it('keeps whose event it is beside data; the one inside wins', () => {
    expect(parseLine('{"type":"text","task_id":"t","data":{"content":"c"}}', 'stdout').fields).toEqual({
      content: 'c',
      task_id: 't',
    })
    expect(parseLine('{"type":"text","task_id":"t","data":{"task_id":"u"}}', 'stdout').fields.task_id).toBe('u')
  })

  it('is never an event when it was cut, even if its start would be one', () => {
    const text = `{"event":"finish","status":"completed"}${' '.repeat(20)}`
    expect(eventIn({ text, truncated: true }, 'stdout')).toBeNull()
    expect(parse({ text, truncated: true }, 'stdout')).toEqual({
      event: 'logs',
      fields: { log: text, level: 'info', stream: 'stdout', truncated: true },
    })
  })
})

it('never reads stderr as events', () => {
  const line = '{"event":"finish","status":"completed"}'
  expect(parseLine(line, 'stderr')).toEqual({ event: 'logs', fields: { log: line, level: 'info', stream: 'stderr' } })
})
