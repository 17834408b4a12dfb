import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { GatewayHouse } from '../test-gateway-house.ts'
import { type Desk, openDesk } from './desk.ts'
import { ADOPTED } from './registration.ts'
import { testContext } from './test-gateway.ts'
import { type WorkerSide, workerSide } from './worker-side.ts'

let folder: string
let house: GatewayHouse
let desk: Desk
let side: WorkerSide
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-trainforge-'))
  house = await GatewayHouse.open(async opened => {
    const context = testContext(opened, folder)
    desk = await openDesk(context)
    side = workerSide(context, desk)
    return { close: () => desk.watchman.close() }
  })
})
afterEach(async () => {
  await house.close()
  await removeTree(folder)
})

it('tells people what it knows of a worker and its attempt, and takes a word on it', async () => {
  const call = { caller: { owner: 'ada', role: 'worker', token: null } as const, address: '10.0.0.1' }
  const worker = await desk.registrar.register('c', { ...ADOPTED, kind: 'flat', label: 'kaggle' }, call)
  const id = await house.submit({ command: 'true' })
  const { caller } = call
  expect(await side.update(id, caller, { status: 'running' })).toBeNull()
  expect(await side.files(id, caller)).toBeNull()
  await desk.claims.claim(worker, id, 'http://hub')
  expect(await side.files(id, { ...caller, owner: 'bob' })).toBeNull()
  expect(await side.update(id, { ...caller, owner: 'bob' }, { status: 'failed' })).toBeNull()
  const zip = await side.files(id, caller)
  expect(Buffer.concat((await zip?.toArray()) ?? []).includes('train.py')).toBe(true)
  const known = await house.engine.read(state => state.workers.get(worker.key))
  if (known === undefined) throw new Error('nobody knows it')
  expect(side.about(known)).toMatchObject({ location: 'kaggle', declines: 0, conflict: null, trust_gpus: true })
  expect(await side.update(id, caller, { status: 'completed' })).toEqual({ success: true, job_id: id })
  expect((await house.job(id)).state).toBe('succeeded')
})
