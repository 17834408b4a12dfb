import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@stoker/client'
import { afterEach, expect, it } from 'vitest'
import { startHub } from '../../../hub/src/hub.ts'
import { HostSampler } from '../../../worker/src/probe/host-sampler.ts'
import { Cleanups } from '../cleanups.ts'
import { waitUntil } from '../wait-until.ts'
import { FleetWorker } from './fleet-worker.ts'
import { introduce } from './introduce.ts'

const cleanups = new Cleanups()
afterEach(() => cleanups.runAll())

async function aHub() {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-'))
  cleanups.add(() => rm(folder, { recursive: true }))
  const hub = await startHub({
    folder,
    host: '127.0.0.1',
    port: 0,
    log: () => {},
    broken: error => expect.fail(String(error)),
  })
  cleanups.add(() => hub.close())
  const client = createClient({ url: hub.url, token: (await readFile(join(folder, 'admin-token'), 'utf8')).trim() })
  cleanups.add(async () => client.close())
  return { url: hub.url, client }
}

it('is a worker to the hub: it is welcome, tells its load, and ends the jobs it gets', async () => {
  const { url, client } = await aHub()
  const sampler = new HostSampler()
  for (const index of [0, 1]) {
    const { secret: join } = await client.createToken({ role: 'join' })
    const worker = await new Promise<FleetWorker>(resolve => {
      const host = () => sampler.sample()
      const fleetWorker: FleetWorker = new FleetWorker({
        hubUrl: url,
        secret: `a-secret-of-worker-${index}`,
        join,
        introduction: introduce(index),
        host,
        welcomed: () => resolve(fleetWorker),
      })
    })
    cleanups.add(() => worker.close())
  }
  expect((await client.health()).workers.connected).toBe(2)
  const placement = { tags: { require: ['kind-1'] } }
  const [quick, slow] = await client.submitMany([
    { type: 'noop', placement },
    { type: 'noop', input: { runMs: 20, exitCode: 3 }, placement },
  ])
  const stateOf = async (id = '') => (await client.job(id)).state
  await waitUntil('both ends', async () => (await client.counts()).active + (await client.counts()).queued === 0)
  expect([await stateOf(quick?.id), await stateOf(slow?.id)]).toEqual(['succeeded', 'failed'])
})
