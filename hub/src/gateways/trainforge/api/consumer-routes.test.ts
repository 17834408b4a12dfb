import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { TestWorker } from '../../../api/test-worker.ts'
import { CONFIG, openConsumer, useConsumer } from './test-consumer.ts'

const { consumer, zip, pushed } = useConsumer()

describe('workers', () => {
  it('are a bare array, and one by one by id or name', async () => {
    expect((await consumer().call('GET', '/api/workers')).json).toEqual([])
    const worker = await TestWorker.join(consumer().hub, { name: 'box / 7' })
    const [record] = (await consumer().call('GET', '/api/workers')).json
    expect(record).toMatchObject({
      worker_id: worker.id,
      status: 'idle',
      worker_type: 'native',
      capabilities: { max_concurrent_jobs: expect.any(Number), supports_gpu: expect.any(Boolean) },
      jobs_completed: 0,
      current_jobs: [],
      dialect: 'native',
      simulated: false,
    })
    expect((await consumer().call('GET', '/api/workers/box%20%2F%207')).json.worker_id).toBe(worker.id)
    expect(await consumer().call('GET', '/api/workers/nobody')).toMatchObject({
      status: 404,
      json: { error: 'Worker not found' },
    })
    expect((await consumer().call('GET', `/api/workers/${worker.id}/stats`)).json).toMatchObject({
      success_rate: 'N/A',
      uptime: expect.any(Number),
    })
  })

  it('are drained and forgotten by an admin', async () => {
    const worker = await TestWorker.join(consumer().hub)
    const path = `/api/workers/${worker.id}`
    const put = (status: unknown, token?: string) =>
      consumer().call('PUT', `${path}/status`, {
        body: JSON.stringify({ status }),
        ...(token === undefined ? {} : { token }),
      })
    expect((await put('draining')).json).toMatchObject({ status: 'draining', message: 'Worker is draining' })
    expect((await put('idle', await consumer().hub.token('worker', 'w'))).json).toMatchObject({ status: 'draining' })
    expect((await put('idle')).json).toMatchObject({ status: 'idle' })
    expect((await put('sleepy')).status).toBe(400)
    expect((await put(7)).status).toBe(400)
    const id = await pushed()
    const fence = await worker.placed(id)
    expect((await consumer().call('DELETE', path)).json).toMatchObject({ status: 'draining' })
    await worker.running(fence)
    await worker.ended(fence)
    expect((await consumer().call('DELETE', path)).json).toMatchObject({ status: 'removed' })
    expect((await consumer().call('DELETE', path)).status).toBe(404)
  })
})

describe('the side that serves workers', () => {
  it('is asked first about an attempt one of its workers holds, and adds what it knows of them', async () => {
    const seen: unknown[] = []
    const both = await openConsumer({
      workers: {
        files: async id => (id === 'held' ? Readable.from([Buffer.from('PK runner')]) : null),
        update: async (id, body) => {
          seen.push([id, body])
          return id === 'held' ? { success: true, status: 'running' } : null
        },
        about: () => ({ location: 'lab 3', worker_type: 'colab' }),
      },
    })
    await TestWorker.join(both.hub)
    const token = await both.hub.token('worker', 'w')
    expect((await both.call('GET', '/api/jobs/held/files', { token })).bytes.toString()).toBe('PK runner')
    const body = JSON.stringify({ status: 'running', progress: 3 })
    expect((await both.call('PUT', '/api/jobs/held', { token, body })).json).toEqual({
      success: true,
      status: 'running',
    })
    expect((await both.call('PUT', '/api/jobs/other', { token, body })).status).toBe(403)
    expect((await both.call('PUT', '/api/jobs/other', { body })).status).toBe(404)
    expect(seen[0]).toEqual(['held', { status: 'running', progress: 3 }])
    const [record] = (await both.call('GET', '/api/workers', { token })).json
    expect(record).toMatchObject({ location: 'lab 3', worker_type: 'colab' })
    expect((await both.call('GET', `/api/workers/${record.worker_id}/stats`)).json.location).toBe('lab 3')
    await both.close()
  })
})

describe('the door', () => {
  it('is open for /health alone, and the documented 404 is for the rest', async () => {
    expect((await consumer().call('GET', '/health', { token: null })).json).toEqual({
      status: 'healthy',
      timestamp: expect.any(String),
      version: '0.0.0-test',
      service: 'stoker',
      database: 'connected',
      uptime: expect.any(Number),
      memory: { rss: expect.any(Number), heapUsed: expect.any(Number), heapTotal: expect.any(Number) },
      requests: 1,
    })
    expect((await consumer().call('GET', '/api/jobs', { token: null })).status).toBe(401)
    expect((await consumer().call('GET', '/api/jobs', { token: 'wrong' })).json).toMatchObject({
      error: 'Unauthorized',
    })
    expect(await consumer().call('GET', '/api/nothing?x=1')).toMatchObject({
      status: 404,
      json: { error: 'Endpoint not found', path: '/api/nothing', method: 'GET', requestId: expect.any(String) },
    })
  })

  it('knows who may do what', async () => {
    const [read, submit, worker] = [
      await consumer().hub.token('read', 'ada'),
      await consumer().hub.token('submit', 'ada'),
      await consumer().hub.token('worker', 'w'),
    ]
    const id = await pushed()
    expect((await consumer().push(CONFIG, zip(), { token: read })).status).toBe(403)
    expect((await consumer().push(CONFIG, zip(), { token: submit })).status).toBe(201)
    expect((await consumer().call('DELETE', `/api/jobs/${id}`, { token: read })).status).toBe(403)
    expect((await consumer().call('PUT', `/api/jobs/${id}`, { token: worker, body: '{}' })).status).toBe(403)
    expect((await consumer().call('GET', '/api/workers', { token: worker })).status).toBe(200)
    expect((await consumer().call('GET', '/api/jobs', { token: worker })).status).toBe(403)
    expect((await consumer().call('GET', `/api/jobs/${id}/files`, { token: worker })).status).toBe(403)
    expect((await consumer().call('DELETE', '/api/workers/x', { token: submit })).status).toBe(403)
  })

  it('takes tokens as the password of the address and as the beginning of the path', async () => {
    const basic = `Basic ${Buffer.from(`me:${consumer().hub.admin}`).toString('base64')}`
    expect((await consumer().call('GET', '/api/jobs', { token: null, headers: { authorization: basic } })).status).toBe(
      200,
    )
    expect((await consumer().call('GET', `/t/${consumer().hub.admin}//api/jobs`, { token: null })).status).toBe(200)
  })

  it('lets callers of this machine in where the operator opened it', async () => {
    const open = await openConsumer({ isOpen: true })
    expect((await open.push(CONFIG, zip(), { token: null })).status).toBe(201)
    expect((await open.call('GET', '/api/workers', { token: null })).json).toEqual([])
    await open.close()
  })

  it('refuses new work when the disk is full or the hub stops', async () => {
    const full = await openConsumer({ diskGuard: () => ({ freeBytes: 1, neededBytes: 2 }) })
    expect(await full.push(CONFIG, zip())).toMatchObject({ status: 507, json: { code: 'disk.full' } })
    await full.close()
    const stopping = await openConsumer({ isStopping: () => true })
    expect((await stopping.call('GET', '/health')).status).toBe(503)
    await stopping.close()
  })
})
