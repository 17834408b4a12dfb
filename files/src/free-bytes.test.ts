import { expect, test } from 'vitest'
import { freeBytes } from './free-bytes.ts'
import { useTestFolder } from './test-folder.ts'

const folder = useTestFolder()

test('a disk has some of its bytes free and never more than all', async () => {
  const space = await freeBytes(folder())
  expect(space.freeBytes).toBeGreaterThan(0)
  expect(space.totalBytes).toBeGreaterThanOrEqual(space.freeBytes)
})

test('a folder that does not exist is an error', async () => {
  await expect(freeBytes(`${folder()}/none`)).rejects.toThrow('ENOENT')
})
