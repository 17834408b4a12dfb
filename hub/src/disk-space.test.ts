import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { DiskSpace } from './disk-space.ts'

it('says what the last look saw, at once', async () => {
  const small = new DiskSpace(tmpdir(), 1)
  expect(small.guard()).toEqual({ freeBytes: 0, neededBytes: 1 })
  await small.look()
  expect(small.guard()).toBeNull()
  expect(small.guard(Number.MAX_SAFE_INTEGER)?.freeBytes).toBeGreaterThan(0)
  await expect(small.checkRoom(Number.MAX_SAFE_INTEGER)).rejects.toMatchObject({ code: 'disk.full' })
  await small.checkRoom(1)
})
