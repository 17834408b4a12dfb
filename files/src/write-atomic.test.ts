import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useTestFolder } from './test-folder.ts'
import { writeAtomic } from './write-atomic.ts'

const folder = useTestFolder()

test('new content replaces the old and nothing else stays in the folder', async () => {
  const path = join(folder(), 'settings.json')
  await writeAtomic(path, 'old')
  await writeAtomic(path, new TextEncoder().encode('new'))
  expect(await readFile(path, 'utf8')).toBe('new')
  expect(await readdir(folder())).toEqual(['settings.json'])
})

test('a given mode is exact, whatever the umask takes away', async () => {
  const path = join(folder(), 'secret')
  await writeAtomic(path, 'x', { mode: 0o666 })
  expect((await stat(path)).mode & 0o777).toBe(0o666)
  await writeAtomic(path, 'x', { mode: 0o600 })
  expect((await stat(path)).mode & 0o777).toBe(0o600)
})

test('a failure leaves the old content and no temporary file', async () => {
  const path = join(folder(), 'taken')
  await mkdir(path)
  await writeFile(join(path, 'inner'), 'kept')
  await expect(writeAtomic(path, 'new')).rejects.toThrow()
  expect(await readdir(folder())).toEqual(['taken'])
  expect(await readFile(join(path, 'inner'), 'utf8')).toBe('kept')
})

test('a reader among many writers never sees part of a content', async () => {
  const path = join(folder(), 'busy')
  const contents = Array.from({ length: 8 }, (_, index) => String(index).repeat(100_000))
  await writeAtomic(path, contents[0] ?? '')
  const writing = Promise.all(contents.map(content => writeAtomic(path, content)))
  const seen: string[] = []
  for (let isDone = false; !isDone; ) {
    isDone = await Promise.race([writing.then(() => true), readFile(path, 'utf8').then(text => !seen.push(text))])
  }
  expect(seen.filter(text => !contents.includes(text))).toEqual([])
})
