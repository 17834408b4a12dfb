import { expect, it } from 'vitest'
import { z } from 'zod'
import { byKeys } from './by-keys.ts'

const Whole = z.strictObject({
  a: z.string().optional(),
  b: z.number().min(1).optional(),
  c: z.array(z.string()).optional(),
})
const read = byKeys(Whole)

it.each([
  [{}],
  [{ a: 'x' }],
  [{ c: ['y'], a: 'x' }],
  [{ a: 'x', b: undefined }],
  [{ a: 1, b: 0 }],
  [{ b: 0, a: 1 }],
  [{ a: 'x', d: 1 }],
  [JSON.parse('{"__proto__": 1}')],
  [{ constructor: 'x' }],
  [[]],
  [null],
  ['text'],
])('says of %j what the whole schema says', value => {
  for (const _ of ['first', 'again']) {
    const [mine, whole] = [read(value), Whole.safeParse(value)]
    expect(mine.success).toBe(whole.success)
    expect(mine.data).toEqual(whole.data)
    expect(mine.error?.issues).toEqual(whole.error?.issues)
  }
})

it('reads what is written in ever new ways, and keeps only so many of them', () => {
  const many = z.strictObject(
    Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`k${i}`, z.number().optional()])),
  )
  const readMany = byKeys(many)
  for (let ways = 0; ways < 4096; ways += 1) {
    const value = Object.fromEntries(
      Array.from({ length: 12 }, (_, i) => [`k${i}`, i]).filter((_, i) => ways & (1 << i)),
    )
    expect(readMany(value).data).toEqual(value)
  }
})
