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

  it('cuts at 1 MiB unless told otherwise: that long is whole, one byte more is not', () => {
    const whole = 'x'.repeat(1024 * 1024)
    const [first, second, third] = new LineSplitter().push(bytes(`${whole}\n${whole}y\nnext\n`))
    expect([first?.truncated, second?.truncated, third?.text]).toEqual([false, true, 'next'])
    expect(second?.text).toBe(whole)
  })

  it.each([
    ['aé', 2, 'a'],
    ['a€', 3, 'a'],
    ['a🔥', 4, 'a'],
    ['aéx', 3, 'aé'],
    ['a🔥x', 5, 'a🔥'],
  ])('cuts %j at %i bytes to %j: a character that is cut goes', (text, maxBytes, kept) => {
    const [line] = new LineSplitter(0, { maxBytes }).push(bytes(`${text}${'z'.repeat(9)}\n`))
    expect(line).toMatchObject({ text: kept, truncated: true })
  })

  it('drops one carriage return at the end of a line, also of a tail, and none inside', () => {
    const splitter = new LineSplitter()
    const found = [...splitter.push(bytes('a\r')), ...splitter.push(bytes('\nb\rc\r\r\nd\r')), ...splitter.end()]
    expect(found.map(line => line.text)).toEqual(['a', 'b\rc\r', 'd'])
  })

  it('skips lines of nothing but spaces and returns', () => {
    const splitter = new LineSplitter()
    expect([...splitter.push(bytes('\n\r\n  \t\n')), ...splitter.end()]).toEqual([])
  })

  it('gives a tail that is too long once, cut, and nothing more', () => {
    const splitter = new LineSplitter(0, { maxBytes: 3 })
    expect(splitter.push(bytes('abcdef'))).toEqual([])
    expect(splitter.end()).toEqual([{ text: 'abc', endOffset: 6, truncated: true }])
    expect(splitter.end()).toEqual([])
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
