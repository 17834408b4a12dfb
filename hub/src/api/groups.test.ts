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
  const own = document.operations.filter(operation => operation.includes('/api/v1/groups'))
  expect([...document.checked]).toEqual(expect.arrayContaining(own))
})

const ids = (json: { jobs: readonly { id: string }[] }) => json.jobs.map(job => job.id)

async function submit(body: object, options: object = {}) {
  const { json, status } = await document.call('POST', '/api/v1/jobs', { body, ...options })
  expect(status, JSON.stringify(json)).toBe(201)
  return json
}

test('an array is one group of ordinary jobs, accepted together', async () => {
  const submitted = await submit({ type: 'noop', name: 'train', array: 3 })
  expect(submitted.jobs).toHaveLength(3)
  const [group] = submitted.groups
  expect(group).toMatchObject({ name: 'train', size: 3 })
  const { json } = await document.call('GET', `/api/v1/groups/${group.id}`)
  expect(json).toMatchObject({ owner: 'ada', size: 3, endedAt: null, maxParallel: null, retryOf: null, failures: [] })
  expect(json.counts).toMatchObject({ queued: 3, active: 0, succeeded: 0 })
  const job = (await document.call('GET', `/api/v1/jobs/${submitted.jobs[1].id}`)).json
  expect(job).toMatchObject({ name: 'train[1]', group: group.id })
  expect(job.spec.env).toEqual({ STOKER_ARRAY_INDEX: '1', STOKER_ARRAY_SIZE: '3' })
  expect((await document.call('GET', `/api/v1/groups/${group.id.slice(-12)}`)).json.id).toBe(group.id)
})

test('a batch may hold groups and single jobs, and lists know the members', async () => {
  const submitted = await submit({
    jobs: [{ type: 'noop' }, { type: 'noop', array: 3 }, { type: 'echo' }, { type: 'noop', matrix: { a: [1, 2] } }],
  })
  expect(submitted.jobs).toHaveLength(7)
  const [array, matrix] = submitted.groups
  const members = async (query: string) => ids((await document.call('GET', `/api/v1/jobs?${query}`)).json)
  expect(await members(`group=${array.id}`)).toEqual(ids(submitted).slice(1, 4).reverse())
  expect(await members(`group=${matrix.id}&state=queued&limit=1`)).toEqual(ids(submitted).slice(6))
  expect(await members(`group=${matrix.id}&state=failed`)).toEqual([])
  expect((await document.call('GET', '/api/v1/jobs?group=ffffffffffff')).json.code).toBe('group.not_found')
  const page = (await document.call('GET', '/api/v1/groups?limit=1')).json
  expect(page.groups[0].id).toBe(matrix.id)
  expect((await document.call('GET', `/api/v1/groups?limit=1&cursor=${page.next}`)).json.groups[0].id).toBe(array.id)
})

test('a repeated submit gives the same group; another sweep under its key is refused', async () => {
  const headers = { 'idempotency-key': 'sweep-1' }
  const first = await submit({ type: 'noop', array: 4 }, { headers })
  expect(await submit({ type: 'noop', array: { from: 0, to: 3 } }, { headers })).toEqual(first)
  const other = await document.call('POST', '/api/v1/jobs', {
    body: { type: 'noop', array: 4, maxParallel: 1 },
    headers,
  })
  expect(other.json.code).toBe('idempotency.conflict')
})

test('cancel ends what has not ended, once', async () => {
  const { groups } = await submit({ type: 'noop', array: 5 })
  const path = `/api/v1/groups/${groups[0].id}`
  const { json, status } = await document.call('POST', `${path}/cancel`)
  expect([status, json.canceled, json.stopping]).toEqual([202, 5, 0])
  expect(json.group.counts).toMatchObject({ canceled: 5, queued: 0 })
  expect(json.group.endedAt).not.toBeNull()
  expect((await document.call('POST', `${path}/cancel`)).json).toMatchObject({ status: 409, code: 'group.ended' })
})

test('a group belongs to its owner', async () => {
  const token = await hub.token('submit', 'gus')
  const { groups } = await submit({ type: 'noop', array: 2 })
  for (const [method, path] of [
    ['GET', ''],
    ['POST', '/cancel'],
    ['POST', '/retry'],
  ] as const)
    expect((await document.call(method, `/api/v1/groups/${groups[0].id}${path}`, { token })).json.code).toBe(
      'group.not_found',
    )
  expect((await document.call('GET', '/api/v1/groups', { token })).json.groups).toEqual([])
})

test('a wrong member refuses the whole, with the place in the batch', async () => {
  const body = { jobs: [{ type: 'noop' }, { command: 'x $'.concat('{{ matrix.no }}'), matrix: { a: [1] } }] }
  const { json } = await document.call('POST', '/api/v1/jobs', { body })
  expect(json).toMatchObject({ code: 'spec.invalid', errors: [{ path: 'jobs[1].command' }] })
  const many = {
    jobs: [
      { type: 'noop', array: 9999 },
      { type: 'noop', array: 2 },
    ],
  }
  expect((await document.call('POST', '/api/v1/jobs', { body: many })).json.detail).toContain('makes 10001 jobs')
})

test('members run at most maxParallel at once; the failed ones are retried as a new group', async () => {
  const fleet = await openTestHub()
  try {
    const worker = await TestWorker.join(fleet, { maxJobs: 10 })
    const { json } = await fleet.call('POST', '/api/v1/jobs', { body: { type: 'noop', array: 3, maxParallel: 1 } })
    const [group] = json.groups
    const path = `/api/v1/groups/${group.id}`
    const show = async () => (await fleet.call('GET', path)).json
    for (const [at, outcome] of (['completed', 'failed', 'completed'] as const).entries()) {
      const fence = await worker.placed(json.jobs[at].id)
      expect((await show()).counts.active).toBe(1)
      const waiting = (await fleet.call('GET', `/api/v1/jobs/${json.jobs[2].id}`)).json.unschedulable
      if (at < 2) expect(waiting).toBe('1 jobs of its group run, maxParallel is 1')
      await worker.ended(fence, { outcome, exitCode: at, error: outcome === 'failed' ? 'no luck' : null })
    }
    expect(await show()).toMatchObject({
      counts: { succeeded: 2, failed: 1, active: 0, queued: 0 },
      failures: [{ id: json.jobs[1].id, reason: 'no luck' }],
    })
    expect((await fleet.call('POST', `${path}/cancel`)).json.code).toBe('group.ended')
    const again = (await fleet.call('POST', `${path}/retry`)).json
    expect(again.jobs).toHaveLength(1)
    const retried = (await fleet.call('GET', `/api/v1/groups/${again.groups[0].id}`)).json
    expect(retried).toMatchObject({ name: group.name, size: 1, retryOf: group.id, maxParallel: 1 })
    expect((await fleet.call('GET', `/api/v1/jobs/${again.jobs[0].id}`)).json).toMatchObject({
      retryOf: json.jobs[1].id,
      name: 'noop[1]',
    })
    await worker.ended(await worker.placed(again.jobs[0].id))
    expect((await fleet.call('POST', `/api/v1/groups/${again.groups[0].id}/retry`)).json).toMatchObject({
      status: 409,
      code: 'group.nothing_failed',
    })
  } finally {
    await fleet.close()
  }
})
