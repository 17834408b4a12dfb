import { mkdtemp, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SecretVault } from './secret-vault.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-vault-'))
})
afterEach(() => removeTree(folder))

const VALUE = Buffer.from('opensesame')

it('opens what it sealed, also after a restart, and nothing of the value is in the sealed text', async () => {
  const sealed = await new SecretVault(folder).seal('ada', 'KEY', VALUE)
  expect(sealed).not.toContain('opensesame')
  expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64').includes('opensesame')).toBe(false)
  expect(await new SecretVault(folder).open('ada', 'KEY', sealed)).toEqual(VALUE)
})

it('makes its key at the first use, for its owner only', async () => {
  const vault = new SecretVault(folder)
  await expect(stat(join(folder, 'secret-key'))).rejects.toThrow('ENOENT')
  await Promise.all([vault.seal('ada', 'A', VALUE), vault.seal('ada', 'B', VALUE)])
  expect((await stat(join(folder, 'secret-key'))).mode & 0o777).toBe(0o600)
  expect(JSON.parse(await readFile(join(folder, 'secret-key'), 'utf8')).keys).toHaveLength(1)
})

it('seals the same value differently every time', async () => {
  const vault = new SecretVault(folder)
  expect(await vault.seal('ada', 'KEY', VALUE)).not.toBe(await vault.seal('ada', 'KEY', VALUE))
})

it('does not open a value under another owner or name, or one that was changed', async () => {
  const vault = new SecretVault(folder)
  const sealed = await vault.seal('ada', 'KEY', VALUE)
  await expect(vault.open('bob', 'KEY', sealed)).rejects.toThrow()
  await expect(vault.open('ada', 'KEY2', sealed)).rejects.toThrow()
  await expect(vault.open('adaK', 'EY', sealed)).rejects.toThrow()
  const bytes = Buffer.from(sealed.split('.')[2] ?? '', 'base64')
  bytes[14] = (bytes[14] ?? 0) ^ 1
  const changed = `${sealed.split('.').slice(0, 2).join('.')}.${bytes.toString('base64')}`
  await expect(vault.open('ada', 'KEY', changed)).rejects.toThrow()
})

it('says which key is missing when the file is not the one that sealed', async () => {
  const sealed = await new SecretVault(folder).seal('ada', 'KEY', VALUE)
  await removeTree(join(folder, 'secret-key'))
  await expect(new SecretVault(folder).open('ada', 'KEY', sealed)).rejects.toThrow(
    `sealed with key ${sealed.split('.')[1]}, which is not in the hub's file secret-key`,
  )
})

it('keeps old keys until they are dropped, and never makes a new one over a file it cannot read', async () => {
  const vault = new SecretVault(folder)
  const old = await vault.seal('ada', 'KEY', VALUE)
  const id = await vault.addKey()
  const fresh = await vault.seal('ada', 'KEY', VALUE)
  expect(fresh.split('.')[1]).toBe(id)
  expect(await vault.open('ada', 'KEY', old)).toEqual(VALUE)
  await vault.dropOldKeys()
  await expect(vault.open('ada', 'KEY', old)).rejects.toThrow('is not in')
  expect(await vault.open('ada', 'KEY', fresh)).toEqual(VALUE)
  await writeFile(join(folder, 'secret-key'), 'garbage')
  await expect(new SecretVault(folder).seal('ada', 'KEY', VALUE)).rejects.toThrow()
  expect(await readFile(join(folder, 'secret-key'), 'utf8')).toBe('garbage')
})
