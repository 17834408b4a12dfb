import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestWorker } from '../../../api/test-worker.ts'
import { joinProvider, openTestConsumer, type TestConsumer } from './test-consumer.ts'

let consumer: TestConsumer
let worker: TestWorker
let ann: string
beforeAll(async () => {
  consumer = await openTestConsumer()
  worker = await joinProvider(consumer.hub, { name: 'big' })
  ann = await consumer.hub.token('submit', 'ann')
})
afterAll(async () => {
  expect(consumer.faults).toEqual([])
  await consumer.close()
})

const SCRIPT = { modelType: 'custom_script', computeNeeded: 0.5, inputData: { script: 'print(1)' } }
const create = () => consumer.call('POST', '/api/jobs/create', { token: ann, body: SCRIPT })
const get = (path: string, token = ann) => consumer.call('GET', path, { token })

describe('who may come in', () => {
  it('needs a token in one of its ways', async () => {
    expect((await consumer.call('GET', '/api/stats', { token: null })).json).toMatchObject({ success: false })
    expect((await consumer.call('GET', '/api/stats', { token: null })).status).toBe(401)
    expect((await consumer.call('GET', '/api/stats', { token: 'guess' })).status).toBe(401)
    expect((await consumer.call('GET', `//t/${ann}//api/stats`, { token: null })).status).toBe(200)
    const basic = { authorization: `Basic ${Buffer.from(`x:${ann}`).toString('base64')}` }
    expect((await consumer.call('GET', '/api/stats', { token: null, headers: basic })).status).toBe(200)
  })

  it('needs a role that allows it', async () => {
    const reader = await consumer.hub.token('read', 'ann')
    const provider = await consumer.hub.token('worker', 'ann')
    expect((await consumer.call('POST', '/api/jobs/create', { token: reader, body: SCRIPT })).status).toBe(403)
    expect((await consumer.call('GET', '/api/providers', { token: reader })).status).toBe(200)
    expect((await consumer.call('POST', '/api/jobs/create', { token: provider, body: SCRIPT })).status).toBe(403)
  })

  it('needs none on this machine where the operator opened it, unless a foreign page asks', async () => {
    const open = await openTestConsumer({ isOpen: true })
    const ask = (origin?: string) =>
      open.call('GET', '/api/stats', { token: null, headers: origin === undefined ? {} : { origin } })
    expect((await ask()).status).toBe(200)
    expect((await ask('http://localhost:5173')).status).toBe(200)
    expect((await ask('https://evil.example')).status).toBe(401)
    await open.close()
  })
})

it('counts jobs and providers, an owner’s own', async () => {
  const { json } = await get('/api/stats')
  expect(json.providers).toEqual({ total: 1, active: 1 })
  const { json: all } = await consumer.call('GET', '/api/stats')
  expect(all.jobs.total).toBeGreaterThanOrEqual(json.jobs.total)
  const bob = await consumer.hub.token('submit', 'bobby')
  expect((await get('/api/stats', bob)).json.jobs).toEqual({ total: 0, active: 0 })
})

it('keeps no earnings and says so', async () => {
  for (const tail of ['', '/live', '/summary']) {
    const { status, json } = await consumer.call('GET', `/api/earnings/${worker.id}${tail}`)
    expect([status, json.error]).toEqual([501, expect.stringContaining('keeps no money')])
  }
  const { json } = await create()
  await worker.placed(json.job.id)
  const { json: active } = await consumer.call('GET', `/api/earnings/big/active-jobs`)
  expect(active.activeJobs.map(({ jobId }: { jobId: string }) => jobId)).toContain(json.job.id)
  const other = await consumer.hub.token('worker', 'eve')
  expect((await consumer.call('GET', '/api/earnings/big/active-jobs', { token: other })).status).toBe(403)
})
