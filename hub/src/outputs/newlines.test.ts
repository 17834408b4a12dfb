import fc from 'fast-check'
import { expect, it } from 'vitest'
import { behindNewline, countNewlines, endsWithNewline } from './newlines.ts'

const outputByte = fc.oneof(fc.constantFrom(10, 11, 138, 0, 255, 127, 128), fc.integer({ min: 0, max: 255 }))

it('counts newlines at any alignment and length, and no other byte', () => {
  fc.assert(
    fc.property(fc.array(outputByte, { maxLength: 70 }), fc.integer({ min: 0, max: 9 }), (values, shift) => {
      const bytes = new Uint8Array([...new Array(shift).fill(10), ...values, 10, 10]).subarray(
        shift,
        shift + values.length,
      )
      expect(countNewlines(bytes)).toBe(values.filter(value => value === 10).length)
    }),
    { numRuns: 2_000 },
  )
})

it('finds the place behind the nth newline, or says there are fewer', () => {
  const bytes = Buffer.from('a\n\nbc\nd')
  expect([0, 1, 2, 3, 4].map(nth => behindNewline(bytes, nth))).toEqual([0, 2, 3, 6, -1])
  expect([endsWithNewline(bytes), endsWithNewline(Buffer.from('\n')), endsWithNewline(Buffer.from(''))]).toEqual([
    false,
    true,
    false,
  ])
})
