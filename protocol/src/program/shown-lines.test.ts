import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ShownLine, ShownLines } from './shown-lines.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

function shown(pieces: readonly Uint8Array[], maxBytes?: number): ShownLine[] {
  const lines = new ShownLines(0, maxBytes === undefined ? {} : { maxBytes })
  return [...pieces.flatMap(piece => lines.push(piece)), ...lines.end()]
}

const textOf = (lines: readonly ShownLine[]) => lines.map(({ text, isOpen }) => (isOpen ? text : `${text}\n`)).join('')

describe('ShownLines', () => {
  it('shows a progress bar part by part, as it is drawn', () => {
    const lines = new ShownLines()
    expect(lines.push(bytes('\r0%'))).toEqual([{ text: '\r', endOffset: 1, isOpen: true, goesOn: false }])
    expect(lines.push(bytes('\r10%'))).toEqual([{ text: '0%\r', endOffset: 4, isOpen: true, goesOn: true }])
    expect(lines.push(bytes('\r20%\r'))).toEqual([{ text: '10%\r', endOffset: 8, isOpen: true, goesOn: true }])
    expect(lines.push(bytes('\n'))).toEqual([{ text: '20%', endOffset: 13, isOpen: false, goesOn: true }])
    expect(lines.push(bytes('next\n'))).toEqual([{ text: 'next', endOffset: 18, isOpen: false, goesOn: false }])
  })

  it('takes a return before a newline as part of it, also where the two come apart', () => {
    expect(shown([bytes('a\r'), bytes('\nb\r\nc')]).map(line => line.text)).toEqual(['a', 'b', 'c'])
  })

  it('shows all of a line that is too long, in parts that cut no character', () => {
    const found = shown([bytes(`${'x'.repeat(8)}éé${'y'.repeat(9)}\nok\n`)], 10)
    expect(found.map(line => [line.text, line.isOpen])).toEqual([
      ['xxxxxxxxé', true],
      ['éyyyyyyyy', true],
      ['y', false],
      ['ok', false],
    ])
  })

  it('shows the same however the bytes are cut, loses none and names the place behind each', () => {
    const line = fc.string({ unit: fc.constantFrom('a', 'é', '🔥', '\r', '\n', ' '), maxLength: 60 })
    fc.assert(
      fc.property(line, fc.array(fc.nat(200)), fc.integer({ min: 4, max: 12 }), (text, cuts, maxBytes) => {
        const whole = bytes(text)
        const ends = [...new Set(cuts)].filter(cut => cut < whole.length).sort((a, b) => a - b)
        const pieces = [0, ...ends].map((from, index) => whole.subarray(from, ends[index] ?? whole.length))
        const found = shown(pieces, maxBytes)
        expect(found).toEqual(shown([whole], maxBytes))
        const plain = text.replaceAll('\r\n', '\n')
        expect(textOf(found)).toBe(plain === '' || plain.endsWith('\n') ? plain : `${plain.replace(/\r$/, '')}\n`)
        expect(found.at(-1)?.endOffset ?? 0).toBe(whole.length)
        for (const { endOffset } of found.filter(({ isOpen }) => !isOpen))
          expect(shown([whole.subarray(endOffset)], maxBytes).map(l => l.text)).toEqual(
            found.filter(l => l.endOffset > endOffset).map(l => l.text),
          )
      }),
    )
  })
})
