import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readJsonOr } from './read-json.ts'
import { useTestFolder } from './test-folder.ts'

const folder = useTestFolder()

test('a missing file gives the fallback', async () => {
  expect(await readJsonOr(join(folder(), 'none.json'), { a: 1 })).toEqual({ a: 1 })
})

test('a file gives what it holds', async () => {
  await writeFile(join(folder(), 'some.json'), '{"a":2}')
  expect(await readJsonOr(join(folder(), 'some.json'), null)).toEqual({ a: 2 })
})

test('a damaged file is an error that names it, never the fallback', async () => {
  await writeFile(join(folder(), 'cut.json'), '{"a":')
  await expect(readJsonOr(join(folder(), 'cut.json'), null)).rejects.toThrow(
    /cut\.json should hold JSON, its 5 characters/,
  )
})

test('a folder in place of the file is an error', async () => {
  await expect(readJsonOr(folder(), null)).rejects.toThrow('EISDIR')
})
