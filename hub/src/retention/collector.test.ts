import { sha256 } from '@stoker/files'
import type { Fence, GcReport } from '@stoker/protocol'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openTestHub, type TestHub } from '../api/test-hub.ts'
import { bytesOf, put } from '../api/test-uploads.ts'
import { TestWorker } from '../api/test-worker.ts'
import { verifyData } from '../verify/verify-data.ts'
import { Collector } from './collector.ts'
import { DEFAULT_RETENTION, type Retention } from './settings.ts'

const HOUR_MS = 3600_000
const DAY_MS = 24 * HOUR_MS
const NOTHING: GcReport = {
  jobs: { count: 0 },
  logs: { count: 0, bytes: 0 },
  artifacts: { count: 0, bytes: 0 },
  content: { count: 0, bytes: 0 },
  uploads: { count: 0, bytes: 0 },
}
let hub: TestHub
let worker: TestWorker
beforeEach(async () => {
  hub = await openTestHub()
  worker = await TestWorker.join(hub)
})
afterEach(async () => {
  expect((await verifyData({ store: hub.store })).problems).toEqual([])
  await hub.close()
})

function collector(laterMs: number, kept: Partial<Retention> = {}): Collector {
  const { engine, store, streams, blobs } = hub
  const retention = { ...DEFAULT_RETENTION, ...kept }
  return new Collector({ engine, queries: store.queries, streams, blobs, now: () => Date.now() + laterMs, retention })
}

async function start(spec: object = {}): Promise<{ id: string; fence: Fence }> {
  const { json, status } = await hub.call('POST', '/api/v1/jobs', { body: { command: 'true', ...spec } })
  expect(status, JSON.stringify(json)).toBe(201)
  const { id } = json.jobs[0]
  const fence = await worker.placed(id)
  await worker.running(fence)
  return { id, fence }
}

/** A job that wrote a line and left a file of 100 bytes. */
async function ended(spec: object = {}): Promise<{ id: string; fence: Fence }> {
  const { id, fence } = await start(spec)
  const bytes = bytesOf(100, fence.job)
  const path = `/api/v1/attempts/${fence.job}-${fence.epoch}-${fence.attempt}/blobs/${sha256(bytes)}`
  const headers = { authorization: `Worker ${worker.id}:${worker.secret}` }
  expect((await put(hub, bytes, { path, headers })).status).toBe(201)
  await worker.output(fence, 'stdout', 'a line\n')
  await worker.ended(fence, { artifacts: [{ path: 'out', sha256: sha256(bytes), size: 100, executable: false }] })
  return { id, fence }
}

test('nothing goes before its time', async () => {
  await ended()
  await put(hub, bytesOf(50))
  expect(await collector(23 * HOUR_MS).plan()).toEqual(NOTHING)
  expect(await collector(23 * HOUR_MS).run()).toEqual(NOTHING)
})

test('jobs past their retention go with all that is theirs, live ones stay', async () => {
  const old = await ended({ labels: { team: 'vision' } })
  const live = await start()
  const expected = {
    ...NOTHING,
    jobs: { count: 1 },
    logs: { count: 1, bytes: 7 },
    artifacts: { count: 1, bytes: 100 },
  }
  expect(await collector(31 * DAY_MS).plan()).toEqual(expected)
  expect((await hub.call('GET', `/api/v1/jobs/${old.id}`)).status).toBe(200)
  expect(await collector(31 * DAY_MS).run()).toEqual({ ...expected, content: { count: 1, bytes: 100 } })
  expect((await hub.call('GET', `/api/v1/jobs/${old.id}`)).status).toBe(404)
  expect((await hub.call('GET', '/api/v1/jobs?label=team=vision')).json.jobs).toEqual([])
  expect((await hub.call('GET', '/api/v1/counts')).json.counts).toMatchObject({ succeeded: 0, active: 1 })
  expect((await hub.call('GET', `/api/v1/jobs/${live.id}`)).json.state).toBe('active')
  expect(hub.blobs.bytesOf('ada')).toBe(0)
  expect(await collector(31 * DAY_MS).run()).toEqual(NOTHING)
})

test('logs and artifacts may go before their job', async () => {
  const { id } = await ended()
  const report = await collector(2 * DAY_MS, { logsMs: DAY_MS, artifactsMs: DAY_MS }).run()
  expect(report).toEqual({
    ...NOTHING,
    logs: { count: 1, bytes: 7 },
    artifacts: { count: 1, bytes: 100 },
    content: { count: 1, bytes: 100 },
  })
  expect((await hub.call('GET', `/api/v1/jobs/${id}`)).json.state).toBe('succeeded')
  expect((await hub.call('GET', `/api/v1/jobs/${id}/logs`)).text).toBe('')
  expect((await hub.call('GET', `/api/v1/jobs/${id}/artifacts`)).json).toEqual({ artifacts: [], bytes: 0 })
})

test('content goes when nothing needs it: not while a job does, and a while after', async () => {
  const [used, unused] = [bytesOf(30, 1), bytesOf(40, 2)]
  await put(hub, used)
  await put(hub, unused)
  const { id, fence } = await start({ files: [{ path: 'in', sha256: sha256(used), size: 30 }] })
  expect((await collector(25 * HOUR_MS).run()).content).toEqual({ count: 1, bytes: 40 })
  await worker.ended(fence)
  expect((await collector(HOUR_MS).run()).content).toEqual({ count: 0, bytes: 0 })
  expect((await collector(25 * HOUR_MS).run()).content).toEqual({ count: 1, bytes: 30 })
  const again = await hub.call('POST', `/api/v1/jobs/${id}/retry`)
  expect(again.json).toMatchObject({ code: 'spec.invalid', detail: expect.stringContaining('upload it first') })
})

test('content two artifacts share goes with the last of them', async () => {
  const bytes = Buffer.from('shared')
  await put(hub, bytes)
  const artifacts = [{ path: 'x', sha256: sha256(bytes), size: 6, executable: false }]
  const first = await start()
  await worker.ended(first.fence, { artifacts })
  const second = await start({ retries: { max: 1, backoff: { initial: '1m' } } })
  await worker.ended(second.fence, { outcome: 'failed', error: 'x', artifacts })
  expect(await collector(31 * DAY_MS).run()).toMatchObject({ artifacts: { count: 1 }, content: { count: 0 } })
  await hub.call('POST', `/api/v1/jobs/${second.id}/cancel`)
  expect((await collector(31 * DAY_MS).run()).content).toEqual({ count: 1, bytes: 6 })
})

test('a group goes with the last of its jobs', async () => {
  const idle = await openTestHub()
  try {
    const submit = async (array: number) =>
      (await idle.call('POST', '/api/v1/jobs', { body: { type: 'noop', array } })).json
    const [gone, live] = [await submit(2), await submit(1)]
    const { engine, store, streams, blobs } = idle
    const now = () => Date.now() + 31 * DAY_MS
    const gc = new Collector({ engine, queries: store.queries, streams, blobs, now, retention: DEFAULT_RETENTION })
    const groups = async () =>
      (await idle.call('GET', '/api/v1/groups')).json.groups.map((group: { id: string }) => group.id)
    await idle.call('POST', `/api/v1/jobs/${gone.jobs[0].id}/cancel`)
    expect(await gc.run()).toMatchObject({ jobs: { count: 1 } })
    expect(await groups()).toEqual([live.groups[0].id, gone.groups[0].id])
    await idle.call('POST', `/api/v1/jobs/${gone.jobs[1].id}/cancel`)
    expect(await gc.run()).toMatchObject({ jobs: { count: 1 } })
    expect(await groups()).toEqual([live.groups[0].id])
    expect((await idle.call('GET', `/api/v1/groups/${gone.groups[0].id}`)).json.code).toBe('group.not_found')
    expect((await verifyData({ store })).problems).toEqual([])
  } finally {
    await idle.close()
  }
})

test('many jobs go in slices, and an unfinished upload in the end', async () => {
  const jobs = Array.from({ length: 250 }, () => ({ type: 'noop' }))
  const idle = await openTestHub()
  try {
    const { json } = await idle.call('POST', '/api/v1/jobs', { body: { jobs } })
    for (const { id } of json.jobs) await idle.call('POST', `/api/v1/jobs/${id}/cancel`)
    const part = bytesOf(10)
    await put(idle, part, { name: sha256('whole'), piece: { first: 0, size: 20 } })
    const { engine, store, streams, blobs } = idle
    const now = () => Date.now() + 31 * DAY_MS
    const gc = new Collector({ engine, queries: store.queries, streams, blobs, now, retention: DEFAULT_RETENTION })
    const reports = await Promise.all([gc.run(), gc.run()])
    for (const report of reports)
      expect(report).toMatchObject({ jobs: { count: 250 }, uploads: { count: 1, bytes: 10 } })
    expect((await idle.call('GET', '/api/v1/counts')).json.counts.canceled).toBe(0)
    expect((await verifyData({ store })).problems).toEqual([])
  } finally {
    await idle.close()
  }
})

test('only an admin sees and starts it', async () => {
  expect((await hub.call('GET', '/api/v1/gc')).json).toEqual(NOTHING)
  expect((await hub.call('POST', '/api/v1/gc')).json).toEqual(NOTHING)
  const token = await hub.token('submit', 'bob')
  for (const method of ['GET', 'POST']) expect((await hub.call(method, '/api/v1/gc', { token })).status).toBe(403)
})
