import { expect, test } from 'vitest'
import { ProgramLines, parsePlace, placeText } from './program-lines.ts'

const START = { attempt: 1, offsets: { stdout: 0, stderr: 0 } }

test('a place is read back as it was written, and nothing else is one', () => {
  const place = { attempt: 12, offsets: { stdout: 0, stderr: 987_654_321_012 } }
  expect(parsePlace(placeText(place))).toEqual(place)
  for (const text of ['', '1', '1.1', '01.1.1', '0.1.1', '1.1.1 ', '1.1.1.1', '1.+1.1', '1.1.1e1'])
    expect(parsePlace(text), text).toBeNull()
})

test('the place behind a line does not count the half line of the other stream', () => {
  const lines = new ProgramLines(START)
  const bytes = (text: string) => new TextEncoder().encode(text)
  expect(lines.push([{ stream: 'stderr', offset: 0, at: 1, bytes: bytes('done\nhalf') }])).toContain('id: 1.0.5\n')
  expect(lines.push([{ stream: 'stdout', offset: 0, at: 2, bytes: bytes('out\n') }])).toContain('id: 1.4.5\n')
  expect(lines.push([{ stream: 'stderr', offset: 9, at: 3, bytes: bytes('\n') }])).toMatch(
    /id: 1\.4\.10\ndata: .*"log":"half"/,
  )
})

test('a line too long for an event comes in parts, and none of it is lost', () => {
  const lines = new ProgramLines(START)
  const long = new TextEncoder().encode(`${'y'.repeat(3 * 1024 * 1024)}\nnext\n`)
  const text = lines.push([{ stream: 'stdout', offset: 0, at: 1, bytes: long }])
  expect(text.match(/y/g)).toHaveLength(3 * 1024 * 1024)
  expect(text.match(/"open":true/g)).toHaveLength(2)
  expect(text).toMatch(/"log":"next"(?!.*"open").*\n\n$/)
})

test('a progress bar is shown while it is drawn, and an event behind its last return is none', () => {
  const lines = new ProgramLines(START)
  const said = (text: string) =>
    lines.push([{ stream: 'stdout', offset: 0, at: 1, bytes: new TextEncoder().encode(text) }])
  expect(said('10%\r20%')).toMatch(/^event: logs\nid: 1\.4\.0\ndata: {"log":"10%\\r".*"open":true}\n\n$/)
  const [last, after] = said('\r{"event":"finish","status":"completed"}\n').split('\n\n')
  expect(last).toContain('"log":"20%\\r"')
  expect(after).toMatch(/^event: logs\n.*\n.*finish/)
})
