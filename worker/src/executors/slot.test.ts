import { once } from 'node:events'
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { KeeperMessage } from './keeper-wire.ts'
import type { Exit } from './port.ts'
import { Slot } from './slot.ts'
import { PYTHON } from './workbench.ts'
import { Zygote } from './zygote.ts'

const NONE = { stdout: 0, stderr: 0 }
const EXIT: Exit = {
  exitCode: 4,
  signal: null,
  oom: false,
  stoppedBy: null,
  startError: null,
  startedAtMs: 1,
  endedAtMs: 2,
  cpuSeconds: 0,
  maxRssBytes: 0,
  droppedBytes: NONE,
  limitsBy: 'none',
  keeperLost: false,
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-'))
})
afterEach(() => removeTree(folder))

it('a keeper whose program ends in the moment it is found again is heard: hello and end come in one packet', async () => {
  const slot = new Slot(0, folder, new Zygote({ runtimeDir: folder, python: PYTHON, idleMs: 1_000, toolPath: '/bin' }))
  const held = { key: 'a', folder, pid: 1, startedAtMs: 1, sizes: NONE, lines: 0, exit: null }
  const words: KeeperMessage[] = [
    { event: 'hello', holds: held },
    { event: 'output', stdout: 7, stderr: 0 },
    { event: 'ended', sizes: { stdout: 7, stderr: 0 }, exit: EXIT },
  ]
  const keeper = createServer(socket => socket.end(words.map(word => `${JSON.stringify(word)}\n`).join('')))
  keeper.listen(slot.socketPath)
  await once(keeper, 'listening')
  const execution = await slot.adopt(() => {})
  expect(await execution?.ended).toEqual(EXIT)
  await slot.close('detach')
  keeper.close()
})
