import { mkdir, mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { type Abilities, type Containers, type JobSpecInput, type Offer, parseJobSpec } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { InputCache } from '../artifacts/input-cache.ts'
import { ModelStore } from '../artifacts/model-store.ts'
import type { Executor, LaunchOrder } from '../executors/port.ts'
import { Declined } from './declined.ts'
import { type SetUpPorts, setUpProgram } from './set-up.ts'
import { Workspaces } from './workspace.ts'

const ENGINE: Containers = {
  ...{ engine: 'docker', version: '1', gpus: true, allowedImages: ['tool:*'], allowedMounts: [], pulls: true },
  images: [],
}
const ABILITIES: Abilities = {
  ...{ executors: ['process'], sandbox: true, unsandboxed: true, internet: true, hostNetwork: false, note: null },
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-'))
  for (const name of ['attempts', 'models', 'empty']) await mkdir(join(folder, name))
})
afterEach(() => removeTree(folder))

/** Sets a job up to the order its executor gets. */
async function orderOf(spec: JobSpecInput, containers?: Partial<Containers>): Promise<LaunchOrder> {
  const parsed = parseJobSpec(spec)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  const fence = { job: 1, epoch: 1, attempt: 1 }
  const offer: Offer = { fence, id: '01890000-0000-7000-8000-00abcdef0123', spec: parsed.spec, gpus: [] }
  let taken: LaunchOrder | null = null
  const executor: Executor = {
    start: order => {
      taken = order
      return Promise.reject(new Error('taken'))
    },
    reattach: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  }
  const able = containers === undefined ? ABILITIES : { ...ABILITIES, containers: { ...ENGINE, ...containers } }
  const ports: SetUpPorts = {
    ...{ executor, workspaces: new Workspaces(join(folder, 'attempts')), abilities: able, now: () => 1 },
    ...{ gpus: [], python: null, visiblePaths: [], env: { PATH: '/usr/bin', HOME: '/root', LANG: 'de_DE' } },
    delivery: { report: () => {}, output: () => {}, progress: () => {}, ready: () => {} },
    containers: { workerId: 'w', socket: () => null, imageCame: () => {} },
    models: new ModelStore({
      folder: join(folder, 'models'),
      ...{ emptyFolder: join(folder, 'empty'), allowedFolders: [], privateHosts: [] },
    }),
    transfers: {
      contentOf: () => () => Promise.reject(new Error('nothing is to be moved here')),
      cache: await InputCache.open(join(folder, 'cache'), 1e6),
    },
  }
  await setUpProgram(offer, ports, {
    signal: new AbortController().signal,
    isAgain: false,
    opener: () => undefined,
  }).catch(error => {
    if (taken === null) throw error
  })
  if (taken === null) throw new Error('nothing was ordered')
  return taken
}

it('a plain program sees its model where it is', async () => {
  await mkdir(join(folder, 'models', 'llama'))
  const order = await orderOf({ command: 'x', model: { name: 'llama' } })
  expect(order).toMatchObject({ isolation: 'sandbox', container: null })
  expect(order.env).toMatchObject({ MODEL_NAME: 'llama', MODEL_PATH: join(folder, 'models', 'llama') })
  expect(order.visiblePaths).toContain(join(folder, 'models', 'llama'))
})

it('a program without a model gets an empty folder', async () => {
  const order = await orderOf({ command: 'x' })
  expect(order.env).toMatchObject({ MODEL_NAME: '', MODEL_PATH: join(folder, 'empty') })
})

it.each([
  ['no engine', {}, undefined, /needs a container, this worker has no engine/],
  ['an image that is not allowed', { image: 'evil' }, {}, /needs image evil, this worker allows only tool:\*/],
  ['a mount that is not allowed', { mounts: [{ source: '/etc', target: '/e' }] }, {}, /mounts \/etc.*no mounts/],
  ['GPUs nobody can give', { resources: { gpus: 1 } }, { gpus: false }, /needs GPUs in a container/],
  ['the network of the machine', { network: 'host' as const }, {}, /network host, this worker keeps its own/],
  ['an engine that went away', {}, {}, /engine of this worker is away/],
])('a container is declined, never run another way: %s', async (_, more, containers, words) => {
  const refused = orderOf({ image: 'tool:v1', command: 'x', ...more }, containers)
  await expect(refused).rejects.toThrow(Declined)
  await expect(refused).rejects.toThrow(words)
})

it('a link below an allowed folder does not lead out of it', async () => {
  const { realMounts } = await import('./container-mounts.ts')
  await mkdir(join(folder, 'data'))
  await symlink('/etc', join(folder, 'data', 'link'))
  const mount = (source: string) => ({ mounts: [{ source: join(folder, source), target: '/d', readOnly: true }] })
  const rules = { allowedMounts: [join(folder, 'data')] }
  expect(await realMounts(mount('data'), rules)).toMatchObject([{ source: join(folder, 'data') }])
  await expect(realMounts(mount('data/link'), rules)).rejects.toThrow(/which is \/etc; this worker allows mounts below/)
  await expect(realMounts(mount('data/none'), rules)).rejects.toThrow(/this worker has no such path/)
})
