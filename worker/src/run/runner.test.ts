import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { Abilities } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { InputCache } from '../artifacts/input-cache.ts'
import { ModelStore } from '../artifacts/model-store.ts'
import type { Execution, Executor, Exit } from '../executors/port.ts'
import type { Delivery } from './delivery.ts'
import { Runner, type RunnerPorts } from './runner.ts'
import { Workspaces } from './workspace.ts'

const NOTHING = { stdout: 0, stderr: 0 }
const EXIT: Exit = {
  ...{ exitCode: 0, signal: null, oom: false, stoppedBy: null, startError: null, limitsBy: 'none', keeperLost: false },
  ...{ startedAtMs: 1, endedAtMs: 2, cpuSeconds: 0, maxRssBytes: 0, droppedBytes: NOTHING },
}
const ABILITIES: Abilities = {
  ...{ executors: ['process'], sandbox: false, unsandboxed: true, internet: false, hostNetwork: false, note: null },
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-'))
})
afterEach(() => removeTree(folder))

it('a worker that was killed after its job was over gives the place of that job free', async () => {
  let released = 0
  const release = () => Promise.resolve(void released++)
  const taken: Execution = {
    ...{
      key: '1-1-1',
      folder: join(folder, '1-1-1'),
      pid: 0,
      startedAtMs: 1,
      containerId: null,
      ended: Promise.resolve(EXIT),
    },
    ...{
      hasEnded: true,
      sizes: NOTHING,
      onOutput: () => {},
      stop: () => {},
      usage: () => Promise.resolve(null),
      release,
    },
    ...{ line: () => {}, onLines: () => {}, endInput: () => {}, heard: () => {} },
  }
  const runner = new Runner(await ports([taken]))
  expect(await runner.reattach(new Set())).toEqual([])
  await vi.waitFor(() => expect(released).toBe(1))
  expect(runner.count).toBe(0)
})

async function ports(found: readonly Execution[]): Promise<RunnerPorts> {
  const executor: Executor = {
    start: () => Promise.reject(new Error('nothing is to be started here')),
    reattach: () => Promise.resolve(found),
    close: () => Promise.resolve(),
  }
  const delivery: Delivery = { report: () => {}, output: () => {}, progress: () => {}, ready: () => {} }
  return {
    ...{ executor, delivery, workspaces: new Workspaces(join(folder, 'attempts')), abilities: ABILITIES, now: () => 1 },
    ...{ gpus: [], python: null, visiblePaths: [], env: {} },
    containers: { workerId: 'w', socket: () => null, imageCame: () => {} },
    models: new ModelStore({ folder, emptyFolder: folder, allowedFolders: [], privateHosts: [] }),
    transfers: {
      contentOf: () => () => Promise.reject(new Error('nothing is to be moved here')),
      cache: await InputCache.open(join(folder, 'cache'), 1e6),
      bandwidth: undefined,
    },
  }
}
