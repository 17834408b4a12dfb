import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { OutputPiece, StreamName } from '../outputs/port.ts'
import { WholeLines } from './whole-lines.ts'

function piece(stream: StreamName, text: string): OutputPiece {
  return { stream, offset: 0, at: 0, bytes: Buffer.from(text) }
}

function shown(...pieces: readonly OutputPiece[]): string {
  const lines = new WholeLines()
  const parts = pieces.map(one => lines.take([one]))
  return Buffer.concat([...parts, lines.rest()]).toString()
}

it('a line that is written in parts is not torn by a line of the other stream', () => {
  expect(shown(piece('stdout', 'a1\na'), piece('stderr', 'e1\n'), piece('stdout', '2\n'))).toBe('a1\ne1\na2\n')
})

it('a progress bar comes as often as it returns to the beginning of its line', () => {
  const lines = new WholeLines()
  expect(Buffer.from(lines.take([piece('stderr', '10 %\r20')])).toString()).toBe('10 %\r')
  expect(Buffer.from(lines.take([piece('stderr', ' %\r')])).toString()).toBe('20 %\r')
})

it('a line nobody finishes comes at the end, and a very long one in parts before', () => {
  const long = 'x'.repeat(200_000)
  expect(shown(piece('stdout', 'open'), piece('stderr', 'e\n'))).toBe('e\nopen')
  const lines = new WholeLines()
  expect(lines.take([piece('stdout', long)]).length).toBe(3 * 65_536)
  expect(lines.rest().length).toBe(200_000 - 3 * 65_536)
})

it('the text depends on the order of the bytes, not on how they were cut', () => {
  const writes = fc.array(
    fc.tuple(fc.constantFrom('stdout' as const, 'stderr' as const), fc.stringMatching(/^[ab\n\r]{0,6}$/)),
  )
  fc.assert(
    fc.property(writes, all => {
      const whole = all.map(([stream, text]) => piece(stream, text))
      const cut = all.flatMap(([stream, text]) => [...text].map(letter => piece(stream, letter)))
      expect(shown(...cut)).toBe(shown(...whole))
    }),
  )
})
