import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claimUids } from './uid-range.ts'

let root = ''
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stoker-uids-'))
})
afterEach(() => rm(root, { recursive: true }))

/** A worker with a data folder of its own. */
async function claim(workerId: string, slots = 4): Promise<number> {
  const folder = join(root, workerId)
  await mkdir(folder, { recursive: true })
  return claimUids({ workerId, slots, folder, claims: join(root, 'claims') })
}
const claimed = async () => (await readdir(join(root, 'claims'))).sort()

test('two workers whose ids ask for the same user ids get different ones', async () => {
  expect([await claim('a-000001'), await claim('b-000001')]).toEqual([201_000, 202_000])
})

test('a worker finds its own again after a restart', async () => {
  expect(await claim('a-000001')).toBe(await claim('a-000001'))
  expect(await claimed()).toEqual(['1'])
})

test('a worker with thousands of slots does not reach into the next one', async () => {
  await claim('a-000003')
  expect(await claim('b-000001', 2500)).toBe(204_000)
  expect(await claimed()).toEqual(['3', '4', '5', '6'])
})

test('many at once never share', async () => {
  const ids = Array.from({ length: 20 }, (_, i) => `w${i}-000005`)
  expect(new Set(await Promise.all(ids.map(id => claim(id)))).size).toBe(20)
})

test('the claim of a worker whose data folder is gone is given again', async () => {
  await claim('a-000001')
  await rm(join(root, 'a-000001'), { recursive: true })
  expect(await claim('b-000001')).toBe(201_000)
})
