import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from './test-events.ts'
import { openTestHub, type TestHub } from './test-hub.ts'
import { TestWorker } from './test-worker.ts'

let hub: TestHub
let worker: TestWorker
beforeAll(async () => {
  hub = await openTestHub()
  worker = await TestWorker.join(hub)
})
afterAll(async () => {
  await until(() => hub.watching().outputs === 0 && hub.watching().commits === 0)
  await hub.close()
})

async function running(spec: object = { type: 'noop' }) {
  const { json } = await hub.call('POST', '/api/v1/jobs', { body: spec })
  const { id } = json.jobs[0]
  const fence = await worker.placed(id)
  const logs = async (query = '') => {
    const { status, text, type } = await hub.call('GET', `/api/v1/jobs/${id}/logs${query}`)
    expect([status, type]).toEqual([200, 'text/plain; charset=utf-8'])
    return text
  }
  return { id, fence, logs }
}

test('bytes come raw, in the order of arrival, of one stream, and of both by whole lines', async () => {
  const { id, fence, logs } = await running()
  expect(await logs()).toBe('')
  await worker.output(fence, 'stdout', 'a1\na')
  await worker.output(fence, 'stderr', 'e1\n')
  await worker.output(fence, 'stdout', '2\n')
  expect(await logs()).toBe('a1\ne1\na2\n')
  expect(await logs('?stream=stdout')).toBe('a1\na2\n')
  expect(await logs('?stream=stderr&attempt=1')).toBe('e1\n')
  await worker.output(fence, 'stdout', Buffer.from([0xff, 0x00, 0x0a]))
  const reply = await fetch(`${hub.url}/api/v1/jobs/${id}/logs?stream=stdout&tail=1`, {
    headers: { authorization: `Bearer ${hub.admin}` },
  })
  expect([...new Uint8Array(await reply.arrayBuffer())]).toEqual([0xff, 0x00, 0x0a])
  await worker.ended(fence)
})

test('the tail counts lines of both streams together', async () => {
  const { fence, logs } = await running()
  for (const [stream, text] of [
    ['stdout', 'o1\n'],
    ['stderr', 'e1\n'],
    ['stdout', 'o2\no3\n'],
    ['stderr', 'e2\n'],
    ['stdout', 'open'],
  ] as const)
    await worker.output(fence, stream, text)
  expect(await logs('?tail=0')).toBe('')
  expect(await logs('?tail=1')).toBe('open')
  expect(await logs('?tail=3')).toBe('o3\ne2\nopen')
  expect(await logs('?tail=4')).toBe('o2\no3\ne2\nopen')
  expect(await logs('?tail=100')).toBe('o1\ne1\no2\no3\ne2\nopen')
  expect(await logs('?tail=2&stream=stderr')).toBe('e1\ne2\n')
  await worker.ended(fence)
})

test('since is a moment or a duration', async () => {
  const { fence, logs } = await running()
  const now = Date.now()
  await worker.output(fence, 'stdout', 'old\n', now - 3600_000)
  await worker.output(fence, 'stdout', 'new\n', now - 1000)
  expect(await logs('?since=10m')).toBe('new\n')
  expect(await logs('?since=2h')).toBe('old\nnew\n')
  expect(await logs(`?since=${new Date(now - 60_000).toISOString()}`)).toBe('new\n')
  expect(await logs('?since=2h&tail=1')).toBe('new\n')
  await worker.ended(fence)
})

test('following goes on with the next attempt and ends with the job', async () => {
  const { id, fence, logs } = await running({
    type: 'noop',
    retries: { max: 1, backoff: { initial: 0.001, max: 0.001 } },
  })
  await worker.output(fence, 'stdout', 'skipped\nfirst')
  const all = logs('?follow=true&tail=1')
  const one = logs('?follow=true&attempt=1')
  await until(() => hub.watching().outputs === 2)
  await worker.output(fence, 'stdout', ' half\n')
  await worker.ended(fence, { outcome: 'failed', exitCode: 1, error: 'no' })
  expect(await one).toBe('skipped\nfirst half\n')
  do await hub.engine.execute({ kind: 'tick' })
  while (await hub.engine.read(state => state.waiting.size > 0))
  const second = await worker.placed(id)
  await worker.output(second, 'stderr', 'second\n')
  await worker.ended(second)
  expect(await all).toBe('first half\nsecond\n')
  expect(await logs()).toBe('second\n')
  expect(await logs('?attempt=1&follow=true')).toBe('skipped\nfirst half\n')
})

test('a large output passes whole', async () => {
  const { fence, logs } = await running()
  const piece = 'y'.repeat(199_999)
  for (let i = 0; i < 20; i += 1) await worker.output(fence, i % 2 ? 'stdout' : 'stderr', `${piece}\n`)
  expect((await logs()).length).toBe(20 * 200_000)
  expect((await logs('?tail=3')).length).toBe(3 * 200_000)
  await worker.ended(fence)
})

test('what cannot be meant is refused', async () => {
  const { id, fence } = await running()
  for (const query of [
    'tail=-1',
    'tail=x',
    'tail=1e9',
    'since=yesterday',
    'since=',
    'stream=both',
    'attempt=2',
    'attempt=0',
    'follow=1',
    'tial=3',
  ]) {
    const { json } = await hub.call('GET', `/api/v1/jobs/${id}/logs?${query}`)
    expect(json, query).toMatchObject({ status: 400, code: 'request.invalid' })
  }
  await worker.ended(fence)
})

test('bytes asked for again from where an answer began are the same, however far the tail has moved on', async () => {
  const { id, fence, logs } = await running()
  await worker.output(fence, 'stdout', 'o1\no2\n')
  await worker.output(fence, 'stderr', 'e1\n')
  const headers = { authorization: `Bearer ${hub.admin}` }
  const first = await fetch(`${hub.url}/api/v1/jobs/${id}/logs?tail=2`, { headers })
  const from = first.headers.get('stoker-from')
  expect([await first.text(), from]).toEqual(['o2\ne1\n', '1.3.0'])
  await worker.output(fence, 'stdout', 'o3\n')
  expect(await logs(`?from=${from}`)).toBe('o2\ne1\no3\n')
  for (const wrong of ['1.3', '2.0.0', 'x'])
    expect((await hub.call('GET', `/api/v1/jobs/${id}/logs?from=${wrong}`)).status).toBe(400)
  await worker.ended(fence)
})

test('a log that is asked for before the first attempt begins with it', async () => {
  const { json } = await hub.call('POST', '/api/v1/jobs', { body: { type: 'noop', placement: { worker: 'nobody' } } })
  const reply = await fetch(`${hub.url}/api/v1/jobs/${json.jobs[0].id}/logs?from=1.0.0`, {
    headers: { authorization: `Bearer ${hub.admin}` },
  })
  expect([reply.status, reply.headers.get('stoker-from'), await reply.text()]).toEqual([200, '1.0.0', ''])
})
