import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LineSplitter } from './lines.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe('LineSplitter', () => {
  it('gives the same lines however the bytes are cut, inside characters too', () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 20 }).map(s => s.replace(/[\r\n]/g, ''))
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(200)), (lines, cuts) => {
        const whole = bytes(lines.map(l => `${l}\n`).join(''))
        const splitter = new LineSplitter()
        const found: string[] = []
        let from = 0
        for (const cut of [...new Set(cuts)].filter(c => c < whole.length).sort((a, b) => a - b)) {
          found.push(...splitter.push(whole.subarray(from, cut)).map(l => l.text))
          from = cut
        }
        found.push(...splitter.push(whole.subarray(from)).map(l => l.text), ...splitter.end().map(l => l.text))
        expect(found).toEqual(lines.filter(l => l.trim() !== ''))
      }),
    )
  })

  it('names the offset behind each line, so that reading goes on from there', () => {
    const splitter = new LineSplitter(100)
    expect(splitter.push(bytes('ab\r\n\ncd\ne'))).toEqual([
      { text: 'ab', endOffset: 104, truncated: false },
      { text: 'cd', endOffset: 108, truncated: false },
    ])
    expect(splitter.end()).toEqual([{ text: 'e', endOffset: 109, truncated: false }])
  })

  it('keeps the start of a line that is too long, drops the rest and goes on', () => {
    const splitter = new LineSplitter(0, { maxBytes: 10 })
    const lines = [...splitter.push(bytes(`${'x'.repeat(8)}`)), ...splitter.push(bytes(`${'y'.repeat(50)}\nok\n`))]
    expect(lines).toEqual([
      { text: 'xxxxxxxxyy', endOffset: 59, truncated: true },
      { text: 'ok', endOffset: 62, truncated: false },
    ])
  })

  it('keeps blank lines for those who want to see them', () => {
    const lines = new LineSplitter(0, { keepBlank: true }).push(bytes('a\n\nb\n'))
    expect(lines.map(line => line.text)).toEqual(['a', '', 'b'])
  })

  it('keeps a 60 kB line whole', () => {
    const text = `{"event":"text","content":"${'é'.repeat(30_000)}"}`
    expect(new LineSplitter().push(bytes(`${text}\n`))[0]?.text).toBe(text)
  })
})
