import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { backUp, restore } from './backup.ts'
import { type Hub, startHub } from './hub.ts'

let folder: string
const hubs: Hub[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-backup-'))
})
afterEach(async () => {
  for (const hub of hubs.splice(0)) await hub.close()
  await rm(folder, { recursive: true })
})

async function start(name: string): Promise<{ hub: Hub; headers: Record<string, string> }> {
  const broken = (error: unknown) => {
    throw error
  }
  const hub = await startHub({ folder: join(folder, name), host: '127.0.0.1', port: 0, log: () => {}, broken })
  hubs.push(hub)
  const token = (await readFile(join(folder, 'first', 'admin-token'), 'utf8')).trim()
  return { hub, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' } }
}

it('a hub restored from a backup of a running one serves its content', async () => {
  const bytes = Buffer.alloc(300_000, 'stoker')
  const path = `/api/v1/blobs/${sha256(bytes)}`
  const first = await start('first')
  expect((await fetch(first.hub.url + path, { method: 'PUT', body: bytes, headers: first.headers })).status).toBe(201)
  await backUp(join(folder, 'first'), join(folder, 'copy'))
  await restore(join(folder, 'copy'), join(folder, 'second'))
  const second = await start('second')
  const read = await fetch(second.hub.url + path, { headers: second.headers })
  expect(read.status).toBe(200)
  expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true)
})
