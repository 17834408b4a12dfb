import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openSealing, sealingWith } from './sealing.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-'))
})
afterEach(() => removeTree(folder))

it('makes its key once, for its owner only, and opens after a restart what it sealed before', async () => {
  const sealed = (await openSealing(folder)).seal('tölf', 'webhook 1')
  expect((await stat(join(folder, 'secret-key'))).mode & 0o777).toBe(0o600)
  expect(sealed).not.toContain(Buffer.from('tölf').toString('base64').slice(0, 4))
  expect((await openSealing(folder)).open(sealed, 'webhook 1')).toBe('tölf')
  expect(await readFile(join(folder, 'secret-key'))).toHaveLength(32)
})

it('opens nothing for another context, with another key, or after a change', () => {
  const { seal, open } = sealingWith(randomBytes(32))
  const sealed = seal('a', 'one')
  expect(seal('a', 'one')).not.toBe(sealed)
  expect(() => open(sealed, 'two')).toThrow()
  expect(() => sealingWith(randomBytes(32)).open(sealed, 'one')).toThrow()
  const changed = Buffer.from(sealed, 'base64')
  changed[12] = (changed[12] ?? 0) ^ 1
  expect(() => open(changed.toString('base64'), 'one')).toThrow()
})

it('refuses a key file of another size', async () => {
  await writeFile(join(folder, 'secret-key'), 'short')
  await expect(openSealing(folder)).rejects.toThrow('has 5 bytes, a key has 32')
})
