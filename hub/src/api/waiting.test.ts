import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestHub, type TestHub } from './test-hub.ts'
import { TestWorker } from './test-worker.ts'

let hub: TestHub
let worker: TestWorker
beforeAll(async () => {
  hub = await openTestHub()
  worker = await TestWorker.join(hub)
})
afterAll(() => hub.close())

const post = (body: unknown, token?: string, headers = {}) => hub.call('POST', '/api/v1/jobs', { body, token, headers })
const idsOf = async (...jobs: object[]): Promise<string[]> =>
  (await post({ jobs })).json.jobs.map((job: { id: string }) => job.id)
const jobOf = async (id: string) => (await hub.call('GET', `/api/v1/jobs/${id}`)).json

test('members of a batch wait for each other by name, are told why, and go on when it has ended', async () => {
  const [prep = '', train = '', report = ''] = await idsOf(
    { type: 'noop', name: 'prep' },
    { type: 'noop', name: 'train', dependsOn: ['prep'] },
    { type: 'noop', name: 'report', dependsOn: [{ job: 'train', on: 'end' }, 'prep'] },
  )
  const shown = await jobOf(train)
  expect(shown).toMatchObject({
    state: 'waiting',
    unschedulable: null,
    reason: `waits for the success of job ${prep} (active)`,
    waitingFor: {
      dependencies: [{ job: prep, on: 'success', state: 'active' }],
      unmet: 1,
      heldBy: null,
      retryAt: null,
    },
    spec: { dependsOn: [{ job: prep, on: 'success' }] },
  })
  expect((await jobOf(report)).reason).toMatch(/^waits for the .* and 1 more$/)
  expect((await hub.call('GET', '/api/v1/jobs?state=waiting')).json.jobs).toMatchObject([
    { id: report, waitingFor: { unmet: 2 } },
    { id: train, waitingFor: { unmet: 1 } },
  ])
  await worker.ended(await worker.placed(prep))
  await worker.ended(await worker.placed(train), { outcome: 'failed', exitCode: 1, error: 'no' })
  await worker.ended(await worker.placed(report))
  expect(await jobOf(report)).toMatchObject({ state: 'succeeded', waitingFor: null })
})

test('a job whose dependency failed is canceled with the reason; its retry waits only for what has not ended', async () => {
  const [first = ''] = await idsOf({ type: 'noop' })
  const [other = ''] = await idsOf({ type: 'noop', hold: true })
  const [last = ''] = await idsOf({ type: 'noop', dependsOn: [first, { job: other, on: 'end' }], priority: 3 })
  await hub.call('PATCH', `/api/v1/jobs/${last}`, { body: { priority: 9 } })
  await worker.ended(await worker.placed(first), { outcome: 'failed', exitCode: 1 })
  expect(await jobOf(last)).toMatchObject({
    state: 'canceled',
    reason: `it needs the success of job ${first}, which is failed`,
  })
  const late = await post({ type: 'noop', dependsOn: [{ job: other, on: 'end' }, first] })
  expect(late.json).toMatchObject({
    status: 422,
    code: 'dependency.unmeetable',
    errors: [{ path: 'dependsOn[1]', message: `it needs the success of job ${first}, which is failed` }],
  })
  const again = (await hub.call('POST', `/api/v1/jobs/${last}/retry`)).json.jobs[0].id
  expect(await jobOf(again)).toMatchObject({
    state: 'waiting',
    priority: 9,
    waitingFor: { dependencies: [{ job: other }] },
  })
  const free = (await hub.call('POST', `/api/v1/jobs/${first}/retry`)).json.jobs[0].id
  await worker.ended(await worker.placed(free))
  await hub.call('POST', `/api/v1/jobs/${again}/cancel`)
  await hub.call('POST', `/api/v1/jobs/${other}/cancel`)
})

test('what a batch cannot mean is refused with its place', async () => {
  const refusal = async (...jobs: object[]) => (await post({ jobs })).json
  expect(
    await refusal({ type: 'noop', name: 'a' }, { type: 'noop', name: 'a' }, { type: 'noop', dependsOn: ['a', 'b'] }),
  ).toMatchObject({
    code: 'spec.invalid',
    errors: [
      { path: 'jobs[2].dependsOn[0]', message: expect.stringContaining('the name of 2 jobs of this batch') },
      { path: 'jobs[2].dependsOn[1]', message: expect.stringContaining('the name of no job of this batch') },
    ],
  })
  expect((await post({ type: 'noop', name: 'me', dependsOn: ['me'] })).json.errors).toEqual([
    { path: 'dependsOn[0]', message: expect.stringContaining('this job itself') },
  ])
  expect(
    await refusal({ type: 'noop', name: 'a', dependsOn: ['b'] }, { type: 'noop', name: 'b', dependsOn: ['a'] }),
  ).toMatchObject({ status: 400, code: 'spec.invalid', errors: [{ path: 'jobs[0].dependsOn' }, {}] })
  const [mine = ''] = await idsOf({ type: 'noop' })
  const stranger = await hub.token('submit', 'eve')
  expect((await post({ type: 'noop', dependsOn: [mine] }, stranger)).json).toMatchObject({
    code: 'dependency.unmeetable',
    detail: `found ${mine}; no job of eve has this id`,
  })
  await worker.ended(await worker.placed(mine))
})

test('a batch with names gives the same jobs for the same key', async () => {
  const jobs = [
    { type: 'noop', name: 'a' },
    { type: 'noop', name: 'b', dependsOn: ['a'] },
  ]
  const once = await post({ jobs }, undefined, { 'idempotency-key': 'graph' })
  const twice = await post({ jobs }, undefined, { 'idempotency-key': 'graph' })
  expect(twice.status).toBe(201)
  expect(twice.json).toEqual(once.json)
  for (const { id } of once.json.jobs) await worker.ended(await worker.placed(id))
})

test('a job is held, released and moved by its owner while it has not started', async () => {
  const token = await hub.token('submit', 'hanna')
  const job = (await post({ type: 'noop', hold: true }, token)).json.jobs[0].id
  const ask = (method: string, path: string, body?: unknown) =>
    hub.call(method, `/api/v1/jobs/${job}${path}`, { token, body })
  expect((await ask('GET', '')).json).toMatchObject({
    state: 'waiting',
    reason: 'held by hanna',
    waitingFor: { heldBy: 'hanna', unmet: 0 },
  })
  expect((await ask('POST', '/hold')).json).toMatchObject({ state: 'waiting' })
  expect((await ask('PATCH', '', { priority: 7 })).json).toMatchObject({ priority: 7 })
  for (const body of [{}, { priority: 101 }, { priority: 1.5 }, { priority: 1, name: 'x' }])
    expect((await ask('PATCH', '', body)).json.code).toBe('request.invalid')
  const stranger = await hub.token('submit', 'eve')
  expect((await hub.call('POST', `/api/v1/jobs/${job}/release`, { token: stranger })).status).toBe(404)
  expect((await ask('POST', '/release')).json.waitingFor).toBeNull()
  const fence = await worker.placed(job)
  for (const [method, path, body] of [
    ['POST', '/hold', undefined],
    ['POST', '/release', undefined],
    ['PATCH', '', { priority: 1 }],
  ] as const)
    expect((await ask(method, path, body)).json).toMatchObject({
      status: 409,
      code: 'job.active',
      detail: expect.stringContaining(`job ${job} is active; only a job that has not started can`),
    })
  await worker.ended(fence)
  expect((await ask('POST', '/hold')).json).toMatchObject({
    code: 'job.ended',
    detail: expect.stringContaining('succeeded'),
  })
})
