import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { z } from 'zod'

/** Proves that the recorded JSON of every kind of message is still read whole and written the same; `kind.variant.json` is another of its kind. */
export function goldenContract(folder: URL, schema: z.ZodType, kinds: readonly string[]): void {
  const files = readdirSync(folder).filter(name => name.endsWith('.json'))

  it('has a golden JSON for every kind', () => {
    expect(files.map(name => name.replace('.json', ''))).toEqual(expect.arrayContaining([...kinds]))
  })

  it.each(files.filter(name => kinds.includes(name.split('.')[0] ?? '')))(
    '%s is read whole and written the same',
    name => {
      const text = readFileSync(new URL(name, folder), 'utf8')
      expect(schema.parse(JSON.parse(text))).toStrictEqual(JSON.parse(text))
    },
  )
}
