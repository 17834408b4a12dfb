import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { readRange } from './read-range.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-range-'))
  path = join(folder, 'stdout')
})
afterEach(() => removeTree(folder))

it.each([10, 200_000])('gives %i bytes from the middle of a file, and what is there at its end', async length => {
  const whole = Buffer.alloc(2 * length, 'abcdefg')
  await writeFile(path, whole)
  expect(whole.subarray(3, 3 + length).equals(await readRange(path, 3, length))).toBe(true)
  expect(whole.subarray(length + 1).equals(await readRange(path, length + 1, length))).toBe(true)
})

it.each([10, 200_000])('rejects when the file of %i bytes is not there', async length => {
  await expect(readRange(path, 0, length)).rejects.toThrow('ENOENT')
})
