import { expect, it } from 'vitest'
import { rankLines } from './rank-lines.ts'

async function of(rank: number, ...parts: readonly string[]): Promise<string> {
  const bytes = (async function* () {
    for (const part of parts) yield Buffer.from(part)
  })()
  const found: Uint8Array[] = []
  for await (const line of rankLines(bytes, rank)) found.push(line)
  return Buffer.concat(found).toString()
}

it('the lines of a rank come without its number, wherever they were cut on their way', async () => {
  const parts = ['one\n[ran', 'k 1] two\n\n[rank 12] three\n[rank 1]', ' four\nfi', 've']
  expect(await of(0, ...parts)).toBe('one\n\nfive\n')
  expect(await of(1, ...parts)).toBe('two\nfour\n')
  expect(await of(12, ...parts)).toBe('three\n')
  expect(await of(2, ...parts)).toBe('')
})
