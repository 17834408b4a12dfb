import { sha256 } from '@stoker/files'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestDocument } from './test-document.ts'
import { openTestHub, type TestHub } from './test-hub.ts'
import { TestWorker } from './test-worker.ts'

let hub: TestHub
let document: TestDocument
beforeAll(async () => {
  hub = await openTestHub()
  document = await TestDocument.read(hub)
})
afterAll(async () => {
  await hub.close()
  const own = document.operations.filter(operation => operation.includes('/api/v1/owners'))
  expect([...document.checked].sort()).toEqual(expect.arrayContaining(own))
})

const limits = (owner: string) => `/api/v1/owners/${owner}/limits`

test('an admin sets, shows and removes limits; an owner sees their own only', async () => {
  const token = await hub.token('submit', 'ann')
  const set = await document.call('PUT', limits('ann'), { body: { queued: 3, bytes: 1e10 } })
  expect(set.json).toEqual({ queued: 3, running: null, gpus: null, bytes: 1e10 })
  expect((await document.call('GET', limits('ann'), { token })).json).toEqual(set.json)
  expect((await document.call('GET', '/api/v1/owners/ann', { token })).json).toMatchObject({
    limits: set.json,
    gpus: 0,
  })
  for (const [method, path] of [
    ['GET', limits('bob')],
    ['GET', '/api/v1/owners/bob'],
    ['PUT', limits('ann')],
    ['DELETE', limits('ann')],
  ] as const) {
    const body = method === 'PUT' ? { body: {} } : {}
    expect((await document.call(method, path, { token, ...body })).json.code, path).toBe('auth.forbidden')
  }
  expect((await document.call('GET', '/api/v1/owners', { token })).json.owners).toHaveLength(1)
  expect((await document.call('DELETE', limits('ann'))).status).toBe(204)
  expect((await document.call('GET', limits('ann'))).json.queued).toBeNull()
})

test('wrong limits are refused with their field', async () => {
  for (const [body, path] of [
    [{ queued: -1 }, 'queued'],
    [{ running: 1.5 }, 'running'],
    [{ gpus: 'two' }, 'gpus'],
    [{ cpus: 1 }, 'cpus'],
  ] as const) {
    const { json } = await document.call('PUT', limits('ann'), { body })
    expect(json).toMatchObject({ status: 400, errors: [{ path }] })
  }
  expect((await document.call('PUT', limits('NOBODY'), { body: {} })).status).toBe(400)
})

test('a submit above the limit is refused with both numbers, and nothing of it is accepted', async () => {
  const token = await hub.token('submit', 'quin')
  await document.call('PUT', limits('quin'), { body: { queued: 3 } })
  const submit = (body: object) => document.call('POST', '/api/v1/jobs', { body, token })
  expect((await submit({ type: 'noop', array: 2 })).status).toBe(201)
  const { json } = await submit({ type: 'noop', array: 2 })
  expect(json).toMatchObject({ status: 429, code: 'owner.limit' })
  expect(json.detail).toBe('quin has 2 jobs queued and submits 2; the limit is 3')
  expect((await document.call('GET', '/api/v1/owners/quin', { token })).json.counts.queued).toBe(2)
  expect((await submit({ type: 'noop' })).status).toBe(201)
})

test('owners are listed in pages by name', async () => {
  for (const owner of ['p-a', 'p-b', 'p-c']) await document.call('PUT', limits(owner), { body: { gpus: 1 } })
  const seen: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const { json } = await document.call('GET', `/api/v1/owners?limit=2${next === '' ? '' : `&cursor=${next}`}`)
    seen.push(...json.owners.map((one: { owner: string }) => one.owner))
    next = json.next
  }
  expect(seen).toEqual([...seen].sort())
  expect(seen).toEqual(expect.arrayContaining(['ada', 'p-a', 'p-b', 'p-c']))
})

test('no more runs than the limit, the rest says why, and goes on when there is room', async () => {
  const fleet = await openTestHub()
  try {
    const worker = await TestWorker.join(fleet, { maxJobs: 10 })
    const token = await fleet.token('submit', 'rae')
    await fleet.call('PUT', limits('rae'), { body: { running: 1 } })
    const { json } = await fleet.call('POST', '/api/v1/jobs', {
      body: { jobs: Array(2).fill({ type: 'noop' }) },
      token,
    })
    const first = await worker.placed(json.jobs[0].id)
    const second = `/api/v1/jobs/${json.jobs[1].id}`
    expect((await fleet.call('GET', second)).json.unschedulable).toBe('rae has 1 jobs running, the limit is 1')
    expect((await fleet.call('GET', '/api/v1/owners/rae')).json).toMatchObject({ running: 1, counts: { active: 1 } })
    await worker.ended(first)
    await worker.ended(await worker.placed(json.jobs[1].id))
    expect((await fleet.call('GET', '/api/v1/owners/rae')).json).toMatchObject({ running: 0 })
  } finally {
    await fleet.close()
  }
})

test('an owner stores no more than their limit, and what they have can be sent again', async () => {
  const token = await hub.token('submit', 'sam')
  await document.call('PUT', limits('sam'), { body: { bytes: 100 } })
  const send = (bytes: Buffer) =>
    fetch(`${hub.url}/api/v1/blobs/${sha256(bytes)}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' },
      body: bytes,
    })
  const first = Buffer.alloc(60, 'a')
  expect((await send(first)).status).toBe(201)
  const refused = await send(Buffer.alloc(60, 'b'))
  expect(refused.status).toBe(413)
  expect(await refused.json()).toMatchObject({
    code: 'owner.storage',
    detail: 'sam stores 60 B and sends 60 B; the limit is 100 B',
  })
  expect((await send(first)).status).toBeLessThan(300)
  expect((await send(Buffer.alloc(40, 'c'))).status).toBe(201)
  expect((await document.call('GET', '/api/v1/owners/sam')).json).toMatchObject({ bytes: 100, limits: { bytes: 100 } })
})
