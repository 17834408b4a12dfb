import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useTestFolder } from '../test-folder.ts'
import { lookIntoZip } from './look-into-zip.ts'
import { writeZip, type ZipEntry } from './test-archives.ts'

const folder = useTestFolder()
const look = async (entries: readonly ZipEntry[], textBytes = 100) =>
  lookIntoZip(await writeZip(join(folder(), 'a.zip'), entries), path => path.endsWith('.py'), { textBytes })

it('lists files and reads those that are asked for, as far as there is room', async () => {
  const found = await look([
    { name: 'src/', mode: 0o040755 },
    { name: './src/a.py', body: 'import torch' },
    { name: 'data.bin', body: 'x'.repeat(500) },
    { name: 'big.py', body: '#'.repeat(500) },
    { name: 'link', body: 'data.bin', mode: 0o120777 },
  ])
  expect([...found.files]).toEqual(['src/a.py', 'data.bin', 'big.py'])
  expect([...found.texts]).toEqual([['src/a.py', 'import torch']])
})

it.each([
  ['../x.py', 'outside'],
  ['/etc/x', 'outside'],
  ['a/../../b', 'outside'],
  ['a\\b', 'outside|backslash'],
])('refuses the name %s', async (name, why) => {
  await expect(look([{ name }])).rejects.toThrow(new RegExp(why))
})

it('refuses what can never be unpacked', async () => {
  await expect(look([{ name: 'a.txt' }, { name: './a.txt' }])).rejects.toThrow('twice')
  await expect(look([{ name: 'pipe', mode: 0o010644 }])).rejects.toThrow('device, pipe or socket')
  await writeFile(join(folder(), 'no.zip'), 'PK nothing')
  await expect(lookIntoZip(join(folder(), 'no.zip'), () => true, { textBytes: 1 })).rejects.toThrow('no zip')
  const many = [{ name: 'a.txt' }, { name: 'b.txt' }]
  const archive = await writeZip(join(folder(), 'b.zip'), many)
  await expect(lookIntoZip(archive, () => false, { textBytes: 0, maxEntries: 1 })).rejects.toThrow('more than 1 ent')
})
