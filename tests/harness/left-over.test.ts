import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { leftOver } from './left-over.ts'

let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stoker-left-'))
})

afterEach(async () => {
  await rm(root, { recursive: true, force: true })
})

it.each(['command line', 'environment'])(
  'finds a process that carries the house in its %s, until it ends',
  async where => {
    const name = where === 'command line' ? `${root}-name` : 'name'
    const env = where === 'environment' ? { HOUSE: root } : {}
    const child = spawn('sleep', ['600'], { argv0: name, env, stdio: 'ignore' })
    await expect
      .poll(() => leftOver(root, new Set()))
      .toEqual([expect.stringContaining(`process ${child.pid}: ${name}`)])
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await leftOver(root, new Set())).toEqual([])
  },
)

it('finds a socket somebody listens on, until it is closed', async () => {
  const server = createServer().listen(join(root, 'k1.sock'))
  await once(server, 'listening')
  expect(await leftOver(root, new Set())).toEqual([`a listening socket ${join(root, 'k1.sock')}`])
  server.close()
  await once(server, 'close')
  expect(await leftOver(root, new Set())).toEqual([])
})
