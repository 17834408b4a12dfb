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

test('a line too long for anyone is cut and says so, and the next one is whole', () => {
  const lines = new ProgramLines(START)
  const long = new TextEncoder().encode(`${'x'.repeat(3 * 1024 * 1024)}\nnext\n`)
  const text = lines.push([{ stream: 'stdout', offset: 0, at: 1, bytes: long }])
  expect(text.length).toBeLessThan(1.1 * 1024 * 1024)
  expect(text).toMatch(/"truncated":true/)
  expect(text).toMatch(/"log":"next".*\n\n$/)
})
