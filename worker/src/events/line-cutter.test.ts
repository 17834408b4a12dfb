import fc from 'fast-check'
import { expect, it } from 'vitest'
import { eventText, LineCutter } from './line-cutter.ts'

const MEGABYTE = 1024 * 1024

function cut(parts: readonly Buffer[]): string[] {
  const cutter = new LineCutter(7)
  const lines: string[] = []
  let at = 7
  const take = ({ bytes, start, end }: { bytes: Buffer; start: number; end: number }) => {
    expect([start, end]).toEqual([at, at + bytes.length])
    at = end
    lines.push(bytes.toString('latin1'))
  }
  for (const part of parts) for (const piece of cutter.push(part)) take(piece)
  for (const piece of cutter.end()) take(piece)
  return lines
}

it('cuts at newlines wherever the bytes are torn, and loses none', () => {
  const parts = fc.array(fc.array(fc.constantFrom(10, 13, 65, 0xe2, 123)).map(bytes => Buffer.from(bytes)))
  fc.assert(
    fc.property(parts, given => {
      const all = Buffer.concat(given)
      expect(cut(given).join('')).toBe(all.toString('latin1'))
      expect(cut(given)).toEqual(cut([all]))
      for (const line of cut(given).slice(0, -1)) expect(line.indexOf('\n')).toBe(line.length - 1)
    }),
  )
})

it('cuts a line without end into pieces, the same ones however it arrives', () => {
  const long = Buffer.concat([Buffer.alloc(2.5 * MEGABYTE, 'x'), Buffer.from('\nnext\n')])
  const lengths = cut([long]).map(line => line.length)
  expect(lengths).toEqual([MEGABYTE, MEGABYTE, MEGABYTE / 2 + 1, 5])
  const torn = Array.from({ length: 40 }, (_, i) => long.subarray(i * 70_001, (i + 1) * 70_001))
  expect(cut(torn).map(line => line.length)).toEqual(lengths)
})

it('reads what may be an event without its line end', () => {
  const text = (line: string) => eventText({ bytes: Buffer.from(line), start: 0, end: 0 })
  expect([text('{"a": "€"}\r\n'), text('{}'), text('word\n'), text('\n')]).toEqual(['{"a": "€"}', '{}', null, null])
})
