import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { WorkerStatus } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { StatusFile } from './status-file.ts'

const FIXED = {
  ...{ pid: 1, processStart: '1', bootId: 'b', startedAt: '2030-01-01T00:00:00.000Z' },
  ...{ workerId: '01890000-0000-7000-8000-000000000001', name: 'w', version: '1.0.0', hub: 'http://h', maxJobs: 2 },
}

let parent = ''
let folder = ''
let running = 0
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'status-'))
  folder = join(parent, 'data')
  await mkdir(folder)
})
afterEach(() => rm(parent, { recursive: true, force: true }))

const open = () => new StatusFile(folder, FIXED, () => ({ running }))
const read = async () => WorkerStatus.parse(JSON.parse(await readFile(join(folder, 'status.json'), 'utf8')))

it('tells what runs and since when it is connected, and takes the file away with it', async () => {
  const status = open()
  await vi.waitUntil(async () => (await readdir(folder)).includes('status.json'))
  expect(await read()).toMatchObject({ name: 'w', running: 0, connectedSince: null })
  running = 2
  status.connection('2030-01-01T00:00:01.000Z')
  await vi.waitUntil(async () => (await read()).running === 2, 5_000)
  expect((await read()).connectedSince).toBe('2030-01-01T00:00:01.000Z')
  await status.close()
  expect(await readdir(folder)).toEqual([])
})

it('leaves nothing behind when it is closed while it writes', async () => {
  const status = open()
  await status.close()
  expect(await readdir(folder)).toEqual([])
})

it('goes on when it cannot be written, and is there again when it can', async () => {
  await mkdir(join(folder, 'status.json~'))
  let looks = 0
  const status = new StatusFile(folder, FIXED, () => {
    looks += 1
    return { running }
  })
  await vi.waitUntil(() => looks > 1, 5_000)
  expect(await readdir(folder)).toEqual(['status.json~'])
  await rm(join(folder, 'status.json~'), { recursive: true })
  await vi.waitUntil(async () => (await readdir(folder)).includes('status.json'), 5_000)
  await status.close()
  expect(await readdir(folder)).toEqual([])
})
