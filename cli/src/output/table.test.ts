import fc from 'fast-check'
import pc from 'picocolors'
import { expect, test } from 'vitest'
import { cutTo, plainText, widthOf } from './plain-text.ts'
import { table } from './table.ts'

const COLUMNS = [
  { title: 'ID', cell: (row: string[]) => row[0] ?? '' },
  { title: 'NAME', cell: (row: string[]) => row[1] ?? '', shrinkTo: 4 },
  { title: 'NOTE', cell: (row: string[]) => row[2] ?? '', shrinkTo: 4 },
]
const paper = (columns: number | undefined) => ({ columns, color: pc.createColors(false), now: 0 })

test('a table never is wider than the terminal, whatever stands in it', () => {
  const row = fc.tuple(fc.constant('0123456789ab'), fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }))
  fc.assert(
    fc.property(fc.array(row, { minLength: 1 }), fc.integer({ min: 24, max: 200 }), (rows, columns) => {
      const lines = table(COLUMNS, rows, paper(columns)).split('\n')
      expect(lines).toHaveLength(rows.length + 1)
      for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(columns)
    }),
  )
})

test('what does not fit even when it shrinks is left out, the least important first', () => {
  const columns = [
    { title: 'ID', cell: () => '0123456789' },
    { title: 'A', cell: () => 'aaaaaaaa', importance: 2 },
    { title: 'B', cell: () => 'bbbbbbbb', importance: 1 },
  ]
  const heads = [30, 25, 12].map(room => table(columns, [0], paper(room)).split('\n')[0])
  expect(heads.map(head => head?.split(/ +/))).toEqual([['ID', 'A', 'B'], ['ID', 'A'], ['ID']])
})

test('a pipe gets whole values', () => {
  const long = 'x'.repeat(500)
  expect(table(COLUMNS, [['a', long, '']], paper(undefined))).toContain(long)
})

test('columns stand under their titles', () => {
  expect(
    table(
      COLUMNS,
      [
        ['a', 'train', 'first'],
        ['b', 'x', '日本'],
      ],
      paper(undefined),
    ),
  ).toBe('ID  NAME   NOTE\na   train  first\nb   x      日本')
})

test('a name cannot move the cursor, change colours or turn the text around', () => {
  expect(plainText('\u001b[2Jgone\r\n\u202eevil')).toBe('�[2Jgone���evil')
})

test('marks, joiners and vowels of a syllable take no column, and are never parted from their character', () => {
  expect(['e\u0301te\u0301', 'a\u200db', '\u1112\u1161\u11ab', '𠀋'].map(widthOf)).toEqual([3, 2, 2, 2])
  expect(cutTo('e\u0301e\u0301e\u0301', 2)).toBe('e\u0301…')
  expect(cutTo('abc', 0)).toBe('')
})

test('the right column gives way first', () => {
  const line = table(COLUMNS, [['id', 'a long name here', 'a long note here']], paper(30)).split('\n')[1]
  expect(line).toBe('id  a long name here  a long …')
})

test('a cut text shows that something is missing and wide characters count twice', () => {
  expect(cutTo('training', 5)).toBe('trai…')
  expect(cutTo('日本語', 5)).toBe('日本…')
  expect(cutTo('short', 5)).toBe('short')
})
