import { createReadStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sha256, sha256File, sha256Stream } from './sha256.ts'
import { useTestFolder } from './test-folder.ts'

const folder = useTestFolder()
const OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'

test('text, bytes, file and stream of the same content have the published hash', async () => {
  const path = join(folder(), 'abc')
  await writeFile(path, 'abc')
  expect(sha256('abc')).toBe(OF_ABC)
  expect(sha256(new Uint8Array([97, 98, 99]))).toBe(OF_ABC)
  expect(await sha256File(path)).toBe(OF_ABC)
  expect(await sha256Stream(createReadStream(path, { highWaterMark: 1 }))).toBe(OF_ABC)
})

test('a stream that breaks gives its error and no hash', async () => {
  async function* broken() {
    yield new Uint8Array([97])
    throw new Error('cable pulled')
  }
  await expect(sha256Stream(broken())).rejects.toThrow('cable pulled')
})
