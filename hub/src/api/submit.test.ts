import { Submitted } from '@stoker/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestDocument } from './test-document.ts'
import { openTestHub, type TestHub } from './test-hub.ts'

let hub: TestHub
let document: TestDocument
beforeAll(async () => {
  hub = await openTestHub()
  document = await TestDocument.read(hub)
})
afterAll(() => hub.close())

test('a batch is answered in its order, and a wrong spec in it is named by its place', async () => {
  const jobs = Array.from({ length: 600 }, (_, i) => ({ type: 'noop', name: `n${i}` }))
  const { json } = await document.call('POST', '/api/v1/jobs', { body: { jobs } })
  const ids = Submitted.parse(json).jobs.map(({ id }) => id)
  expect(new Set(ids).size).toBe(600)
  expect((await document.call('GET', `/api/v1/jobs/${ids[599]}`)).json.name).toBe('n599')
  const wrong = await document.call('POST', '/api/v1/jobs', {
    body: { jobs: [{ type: 'noop' }, { type: 'noop', resources: { gpsu: 1 } }, { type: 'nope' }] },
  })
  expect(wrong).toMatchObject({ status: 400, json: { code: 'spec.invalid' } })
  expect(wrong.json.errors.map((e: { path: string }) => e.path)).toEqual(['jobs[1].resources.gpsu', 'jobs[2].type'])
  for (const body of [
    { jobs: [] },
    { jobs: 'x' },
    { jobs: [{ type: 'noop' }], more: 1 },
    { jobs: Array(10_001).fill(0) },
  ])
    expect(await document.call('POST', '/api/v1/jobs', { body })).toMatchObject({
      status: 400,
      json: { code: 'spec.invalid' },
    })
})

test('the same key with the same specs gives the same jobs, with others it is refused', async () => {
  const send = (body: unknown, headers = { 'idempotency-key': 'k1' }) =>
    document.call('POST', '/api/v1/jobs', { body, headers })
  const both = await Promise.all([send({ type: 'noop', name: 'k' }), send('{"name" : "k","type":"noop"}')])
  expect(both[0].json.jobs[0]).toEqual(both[1].json.jobs[0])
  expect((await send({ type: 'noop', name: 'k' })).json).toEqual(both[0].json)
  expect((await send({ type: 'noop', name: 'other' })).json).toMatchObject({
    status: 409,
    code: 'idempotency.conflict',
  })
  expect((await send({ type: 'noop' }, { 'idempotency-key': 'x'.repeat(201) })).json.code).toBe('request.invalid')
})

test('what can never run is refused only when asked to fail fast', async () => {
  const body = { type: 'noop', resources: { gpus: 64 } }
  const refused = await document.call('POST', '/api/v1/jobs?failFast=true', { body })
  expect(refused).toMatchObject({ status: 422, json: { code: 'job.unschedulable' } })
  expect((await document.call('POST', '/api/v1/jobs', { body })).json.jobs[0].unschedulable).not.toBeNull()
})

test('a spec above its size is refused with both sizes, in a batch by its place', async () => {
  const large = { type: 'echo', input: { text: 'x'.repeat(300_000) } }
  const one = await document.call('POST', '/api/v1/jobs', { body: large })
  expect(one).toMatchObject({ status: 413, json: { code: 'request.too_large' } })
  expect(one.json.detail).toMatch(/300035 bytes.*262144/)
  const many = await document.call('POST', '/api/v1/jobs', { body: { jobs: [{ type: 'noop' }, large] } })
  expect(many.json.detail).toMatch(/^jobs\[1\] has/)
  const small = Array.from({ length: 400 }, () => ({ type: 'echo', input: { text: 'x'.repeat(1000) } }))
  expect((await document.call('POST', '/api/v1/jobs', { body: { jobs: small } })).status).toBe(201)
  const huge = await document.call('POST', '/api/v1/jobs', { body: `"${'x'.repeat(33 * 1024 * 1024)}"` })
  expect(huge.json).toMatchObject({ status: 413, code: 'request.too_large' })
})

test('a full disk refuses new work with the numbers', async () => {
  const full = await openTestHub({ diskGuard: () => ({ freeBytes: 12e6, neededBytes: 1e9 }) })
  const { json } = await full.call('POST', '/api/v1/jobs', { body: { type: 'noop' } })
  await full.close()
  expect(json).toMatchObject({ status: 507, code: 'disk.full' })
  expect(json.detail).toMatch(/12 MB free, new work needs 1 GB/)
})

test('a hub that stops says so', async () => {
  const stopping = await openTestHub({ isStopping: () => true })
  const answers = [await stopping.call('GET', '/health'), await stopping.call('POST', '/api/v1/jobs', { body: {} })]
  await stopping.close()
  for (const { json } of answers) expect(json).toMatchObject({ status: 503, code: 'hub.stopping' })
})
