import { JobDetail } from '@stoker/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestDocument } from './test-document.ts'
import { openTestHub, type TestHub } from './test-hub.ts'
import { HARDWARE, TestWorker } from './test-worker.ts'

/** Routes with a test file of their own. */
const ELSEWHERE =
  /^\w+ \/api\/v1\/(groups|sessions|presets|owners|schedules|blobs|attempts|gc|me|tokens|listeners|webhooks|jobs\/\{id\}\/artifacts)\b/

let hub: TestHub
let document: TestDocument
/** Workers join only here, where no other test leaves jobs for them. */
let fleet: TestHub
let fleetDocument: TestDocument
beforeAll(async () => {
  hub = await openTestHub()
  document = await TestDocument.read(hub)
  fleet = await openTestHub()
  fleetDocument = await TestDocument.read(fleet)
})
afterAll(async () => {
  await hub.close()
  await fleet.close()
  const isHere = (operation: string) => !ELSEWHERE.test(operation)
  const checked = new Set([...document.checked, ...fleetDocument.checked].filter(isHere))
  expect([...checked].sort()).toEqual(document.operations.filter(isHere).sort())
})

async function submit(spec: object, token?: string): Promise<string> {
  const { json, status } = await document.call('POST', '/api/v1/jobs', { body: spec, token })
  expect(status).toBe(201)
  return json.jobs[0].id
}

test('a submitted job can be read at once, by id and by the end of it', async () => {
  const id = await submit({ type: 'noop', name: 'first', labels: { a: '1' }, input: { runMs: 5 } })
  const { json } = await document.call('GET', `/api/v1/jobs/${id}`)
  expect(json).toMatchObject({ id, name: 'first', state: 'queued', labels: { a: '1' }, history: [], result: null })
  expect(json.unschedulable).toMatch(/no worker has joined/)
  expect(JobDetail.parse(json).spec.input).toEqual({ runMs: 5 })
  const short = id.slice(-12)
  for (const ref of [short, short.toUpperCase(), id.toUpperCase()])
    expect((await document.call('GET', `/api/v1/jobs/${ref}`)).json.id).toBe(id)
  for (const ref of ['abc', 'zzzz', 'ffffffffffff', '%20', '01a1e13b-133b-7a60-9a6a-e9e2acc3e679'])
    expect((await document.call('GET', `/api/v1/jobs/${ref}`)).json).toMatchObject({
      status: 404,
      code: 'job.not_found',
    })
})

test('lists are newest first, pages meet without gap or repeat, and filters hold', async () => {
  const token = await hub.token('submit', 'lister')
  const jobs = Array.from({ length: 7 }, (_, i) => ({
    type: i % 2 ? 'echo' : 'noop',
    name: `l${i}`,
    labels: { n: `${i % 3}` },
  }))
  const ids = (await document.call('POST', '/api/v1/jobs', { body: { jobs }, token })).json.jobs.map(
    (j: { id: string }) => j.id,
  )
  const seen: string[] = []
  for (let next: string | null = ''; next !== null; ) {
    const { json } = await document.call('GET', `/api/v1/jobs?limit=3${next === '' ? '' : `&cursor=${next}`}`, {
      token,
    })
    seen.push(...json.jobs.map((j: { id: string }) => j.id))
    next = json.next
  }
  expect(seen).toEqual([...ids].reverse())
  const names = async (query: string) =>
    (await document.call('GET', `/api/v1/jobs?${query}`, { token })).json.jobs.map((j: { name: string }) => j.name)
  expect(await names('type=echo')).toEqual(['l5', 'l3', 'l1'])
  expect(await names('label=n=1&type=echo')).toEqual(['l1'])
  expect(await names('label=n%3D0&label=n=0&state=queued,active')).toEqual(['l6', 'l3', 'l0'])
  expect(await names('name=l2')).toEqual(['l2'])
  expect(await names('state=failed')).toEqual([])
  expect(await names('worker=nobody')).toEqual([])
  for (const query of [
    'limit=0',
    'limit=1001',
    'limit=x',
    'cursor=!!',
    'cursor=czE',
    'cursor=czE%3D',
    'state=done',
    'label=x',
    'labels=a=b',
    'state=queued&state=active',
  ]) {
    const status = query === 'cursor=czE' ? 200 : 400
    expect((await document.call('GET', `/api/v1/jobs?${query}`, { token })).status, query).toBe(status)
  }
})

test('an owner sees and touches only what is theirs; the admin sees all', async () => {
  const [mine, other, reader] = [
    await hub.token('submit', 'mia'),
    await hub.token('submit', 'otto'),
    await hub.token('read', 'mia'),
  ]
  const id = await submit({ type: 'noop' }, mine)
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/events'],
    ['GET', '/logs'],
    ['GET', '/explain'],
    ['POST', '/cancel'],
    ['POST', '/retry'],
  ] as const) {
    const { json } = await document.call(method, `/api/v1/jobs/${id}${path}`, { token: other })
    expect(json, path).toMatchObject({ status: 404, code: 'job.not_found' })
  }
  expect((await document.call('GET', `/api/v1/jobs/${id}`, { token: reader })).status).toBe(200)
  expect((await document.call('GET', `/api/v1/jobs/${id}`)).status).toBe(200)
  expect((await document.call('GET', '/api/v1/jobs', { token: reader })).json.jobs).toHaveLength(1)
  expect((await document.call('GET', '/api/v1/jobs?owner=otto', { token: reader })).json.code).toBe('auth.forbidden')
  expect((await document.call('GET', '/api/v1/jobs?owner=mia')).json.jobs).toHaveLength(1)
  expect((await document.call('GET', '/api/v1/counts', { token: reader })).json.counts.queued).toBe(1)
  expect((await document.call('GET', '/api/v1/counts?owner=mia')).json.counts.queued).toBe(1)
  expect((await document.call('GET', '/api/v1/counts')).json.counts.queued).toBeGreaterThan(7)
  expect((await document.call('POST', '/api/v1/jobs', { body: { type: 'noop' }, token: reader })).json.code).toBe(
    'auth.forbidden',
  )
  for (const path of ['/api/v1/tokens', '/api/v1/workers/x/drain']) {
    const method = path.endsWith('drain') ? 'POST' : 'GET'
    expect((await document.call(method, path, { token: mine })).json).toMatchObject({
      status: 403,
      code: 'auth.forbidden',
    })
  }
})

test('a job walks through a worker: shown at work, stopped, ended, retried', async () => {
  const token = await fleet.token('submit', 'wanda')
  const worker = await TestWorker.join(fleet, { name: 'box', tags: ['box'] })
  const id = (await fleetDocument.call('POST', '/api/v1/jobs', { body: { type: 'noop' }, token })).json.jobs[0].id
  const fence = await worker.placed(id)
  await worker.running(fence)
  fleet.board.put(worker.id, {
    t: 'live',
    at: Date.now(),
    host: null,
    gpus: [],
    attempts: [{ fence, progress: { percent: 40, operation: 'x', metrics: {} }, cpus: 1, memoryBytes: 1 }],
  })
  const shown = (await fleetDocument.call('GET', `/api/v1/jobs/${id}`, { token })).json
  expect(shown).toMatchObject({
    state: 'active',
    worker: { id: worker.id, name: 'box' },
    progress: { percent: 40 },
    cancelRequested: false,
  })
  expect(shown.history).toMatchObject([{ number: 1, state: 'running', isolation: 'none' }])
  expect((await fleetDocument.call('GET', '/api/v1/jobs?worker=box', { token })).json.jobs).toHaveLength(1)
  expect((await fleetDocument.call('GET', '/api/v1/workers/box', { token })).json.attempts).toMatchObject([
    { job: id, attempt: 1 },
  ])
  expect(
    (await fleetDocument.call('GET', '/api/v1/workers/box', { token: await fleet.token('read', 'x') })).json.attempts,
  ).toEqual([])
  expect((await fleetDocument.call('POST', `/api/v1/jobs/${id}/retry`, { token })).json.code).toBe('job.not_ended')
  const cancel = await fleetDocument.call('POST', `/api/v1/jobs/${id}/cancel`, { token })
  expect(cancel).toMatchObject({
    status: 202,
    json: { effect: 'stopping', job: { state: 'active', cancelRequested: true } },
  })
  expect((await fleetDocument.call('DELETE', '/api/v1/workers/box')).json.code).toBe('worker.busy')
  await worker.ended(fence, { outcome: 'canceled', exitCode: null, signal: 'SIGTERM', error: 'canceled by wanda' })
  const ended = (await fleetDocument.call('GET', `/api/v1/jobs/${id}`, { token })).json
  expect(ended).toMatchObject({
    state: 'canceled',
    signal: 'SIGTERM',
    progress: null,
    history: [{ outcome: 'canceled' }],
  })
  expect((await fleetDocument.call('POST', `/api/v1/jobs/${id}/cancel`, { token })).json).toMatchObject({
    status: 409,
    code: 'job.ended',
  })
  const again = await fleetDocument.call('POST', `/api/v1/jobs/${id}/retry`, { token })
  expect(again.status).toBe(201)
  const retried = (await fleetDocument.call('GET', `/api/v1/jobs/${again.json.jobs[0].id}`, { token })).json
  expect(retried).toMatchObject({ retryOf: id, owner: 'wanda', spec: ended.spec })
})

test('a job that has not started is held, released and moved', async () => {
  const id = await submit({ type: 'noop' })
  expect((await document.call('POST', `/api/v1/jobs/${id}/hold`)).json).toMatchObject({ reason: 'held by ada' })
  expect((await document.call('PATCH', `/api/v1/jobs/${id}`, { body: { priority: 5 } })).json.priority).toBe(5)
  expect((await document.call('POST', `/api/v1/jobs/${id}/release`)).json.state).toBe('queued')
})

test('a worker is drained, resumed and forgotten by id or name', async () => {
  const worker = await TestWorker.join(fleet, { name: 'näme with space', tags: ['other'] })
  const path = `/api/v1/workers/${encodeURIComponent('näme with space')}`
  expect((await fleetDocument.call('GET', path)).json).toMatchObject({
    id: worker.id,
    state: 'ready',
    running: 0,
    maxJobs: 8,
  })
  expect((await fleetDocument.call('POST', `${path}/drain`)).json.state).toBe('draining')
  expect((await fleetDocument.call('POST', `/api/v1/workers/${worker.id}/resume`)).json.state).toBe('ready')
  expect((await fleetDocument.call('GET', '/api/v1/workers')).json.workers).toHaveLength(2)
  expect((await fleetDocument.call('DELETE', path)).status).toBe(204)
  expect((await fleetDocument.call('GET', path)).json).toMatchObject({ status: 404, code: 'worker.not_found' })
})

test('secrets are set, listed, sealed anew and removed, and all of it is written down', async () => {
  const set = await document.call('PUT', '/api/v1/secrets/KEY', { body: { value: 'opensesame' } })
  expect(set.json).toMatchObject({ name: 'KEY', owner: 'ada', bytes: 10 })
  expect((await document.call('GET', '/api/v1/secrets')).json).toMatchObject({ secrets: [{ name: 'KEY' }], next: null })
  expect((await document.call('POST', '/api/v1/secret-key/rotate')).json).toEqual({ key: 'k2', resealed: 1 })
  expect((await document.call('DELETE', '/api/v1/secrets/KEY')).status).toBe(204)
  const [last] = (await document.call('GET', '/api/v1/audit')).json.entries
  expect(last).toMatchObject({ action: 'DELETE /api/v1/secrets/:name', target: 'KEY', status: 204 })
})

test('a device is quarantined and released by an admin, and its worker shows it', async () => {
  const gpu = { index: 0, uuid: 'GPU-9', name: 'Test GPU', memoryMb: 24_000, driver: null, simulated: false }
  const hardware = { ...HARDWARE, gpus: [gpu] }
  await TestWorker.join(fleet, { name: 'rig', hardware })
  const path = '/api/v1/devices/GPU-9/quarantine'
  const body = { reason: 'its fan is loud' }
  expect((await fleetDocument.call('POST', path, { body, token: await fleet.token('submit', 'x') })).status).toBe(403)
  expect((await fleetDocument.call('POST', path, { body: {} })).json).toMatchObject({ code: 'request.invalid' })
  const { json } = await fleetDocument.call('POST', path, { body })
  expect(json).toMatchObject({ uuid: 'GPU-9', workers: ['rig'], quarantine: { ...body, by: 'ada' } })
  const shown = await fleetDocument.call('GET', '/api/v1/workers/rig')
  expect(shown.json).toMatchObject({ gpus: { total: 1, out: 1 }, devices: [{ quarantine: body }] })
  const job = { command: 'x', resources: { gpus: 1 }, placement: { worker: 'rig' } }
  const { jobs } = (await fleetDocument.call('POST', '/api/v1/jobs', { body: job })).json
  expect((await fleetDocument.call('GET', `/api/v1/jobs/${jobs[0].id}`)).json.state).toBe('queued')
  expect((await fleetDocument.call('DELETE', path)).status).toBe(204)
  expect((await fleetDocument.call('GET', `/api/v1/jobs/${jobs[0].id}`)).json.state).toBe('active')
  const unknown = await fleetDocument.call('POST', '/api/v1/devices/GPU-0/quarantine', { body })
  expect(unknown.json).toMatchObject({ status: 404, code: 'device.not_found' })
  await fleetDocument.call('POST', `/api/v1/jobs/${jobs[0].id}/cancel`)
})

test('the hub tells how it is, counts its answers and describes itself', async () => {
  expect((await document.call('GET', '/health', { token: null })).json).toMatchObject({
    status: 'ok',
    epoch: 1,
    version: '0.0.0-test',
  })
  const metrics = await document.call('GET', '/metrics', { token: await hub.token('read', 'x') })
  expect(metrics.text).toMatch(/stoker_jobs\{state="queued"\} [1-9]\d*/)
  expect(metrics.text).toMatch(/stoker_http_responses_total\{method="POST",route="\/api\/v1\/jobs",status="201"\} \d+/)
  expect((await document.call('GET', '/metrics', { token: await hub.token('submit', 'x') })).status).toBe(403)
  const page = await hub.call('GET', '/docs/', { token: null })
  expect(page.text).not.toMatch(/https?:/)
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect((await hub.call('GET', '/docs', { token: null })).headers.get('location')).toBe('/docs/')
  expect((await hub.call('GET', '/docs/reference.js', { token: null })).text.length).toBeGreaterThan(1e6)
  const feed = new AbortController()
  const reply = await fetch(`${hub.url}/api/v1/feed`, {
    headers: { authorization: `Bearer ${hub.admin}` },
    signal: feed.signal,
  })
  document.check('GET', '/api/v1/feed', {
    status: reply.status,
    type: reply.headers.get('content-type') ?? '',
    headers: reply.headers,
    text: '',
    json: null,
  })
  feed.abort()
})
