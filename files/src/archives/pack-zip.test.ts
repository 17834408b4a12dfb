import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { packZip } from './pack-zip.ts'
import { unpackArchive } from './unpack-archive.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-zip-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('packs the named files and no others', async () => {
  await mkdir(join(folder, 'in', 'sub'), { recursive: true })
  await writeFile(join(folder, 'in', 'sub', 'a b.txt'), 'hello')
  await writeFile(join(folder, 'in', 'other'), 'no')
  const size = await packZip(join(folder, 'in'), ['sub/a b.txt'], join(folder, 'x.zip'))
  expect(size).toBe((await readFile(join(folder, 'x.zip'))).length)
  await unpackArchive(join(folder, 'x.zip'), 'zip', join(folder, 'out'))
  expect(await readFile(join(folder, 'out', 'sub', 'a b.txt'), 'utf8')).toBe('hello')
  await expect(readFile(join(folder, 'out', 'other'))).rejects.toThrow(/ENOENT/)
})

it('rejects when a file is not there', async () => {
  await expect(packZip(folder, ['gone'], join(folder, 'x.zip'))).rejects.toThrow(/ENOENT/)
})
