import { SessionPage, SessionView } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { hearReady } from '../engine/sessions.ts'
import { presetsOf } from '../presets/test-presets.ts'
import { openTestHub, type TestHub } from './test-hub.ts'
import { TestWorker } from './test-worker.ts'

let hub: TestHub
let worker: TestWorker
beforeEach(async () => {
  hub = await openTestHub({ presets: PRESETS })
  worker = await TestWorker.join(hub)
})
afterEach(() => hub.close())

const PRESETS = presetsOf({
  'model_presets.yaml': 'models: {m: {p: {type: session, command: [serve]}}}',
})

const post = (path: string, body: unknown, token?: string) =>
  hub.call('POST', `/api/v1${path}`, { body, ...(token === undefined ? {} : { token }) })

/** A session that runs and is ready. */
async function warm(body: object = {}): Promise<string> {
  const { id } = (await post('/sessions', 'preset' in body ? body : { command: 'serve', ...body })).json
  const fence = await worker.placed(id)
  await worker.running(fence)
  hub.engine.touch((state, now) => hearReady(state, fence, true, now.wall))
  return id
}

it('starts a session with the defaults, shows it and lists it by state and preset', async () => {
  const made = await post('/sessions', { name: 'echo', preset: 'm/p' })
  expect(made.status).toBe(201)
  const session = SessionView.parse(made.json)
  expect(session).toMatchObject({ name: 'echo', state: 'initializing', concurrency: 1, queue: 5, preset: 'm/p' })
  expect(session).toMatchObject({ idleTimeoutSeconds: 300, maxLifetimeSeconds: 3600, working: [], reason: null })
  const id = await warm()
  expect((await hub.call('GET', `/api/v1/sessions/${id.slice(-12)}`)).json).toMatchObject({ id, state: 'waiting' })
  const ids = async (query: string) =>
    SessionPage.parse((await hub.call('GET', `/api/v1/sessions${query}`)).json).sessions.map(one => one.id)
  expect(await ids('')).toEqual([id, session.id])
  expect(await ids('?state=waiting')).toEqual([id])
  expect(await ids('?preset=m/p')).toEqual([session.id])
  const page = SessionPage.parse((await hub.call('GET', '/api/v1/sessions?limit=1')).json)
  expect(page.sessions.map(one => one.id)).toEqual([id])
  expect(await ids(`?limit=1&cursor=${page.next}`)).toEqual([session.id])
  expect((await hub.call('GET', '/api/v1/sessions?state=dead')).status).toBe(400)
})

it('refuses on request a session that nobody can run, and takes it otherwise', async () => {
  const body = { command: 'serve', resources: { gpus: 64 } }
  const refused = await post('/sessions?failFast=true', body)
  expect(refused).toMatchObject({ status: 422, json: { code: 'job.unschedulable' } })
  expect((await post('/sessions', body)).status).toBe(201)
})

it('gives a session a task, shows it at work, and its answer as the result of the task', async () => {
  const id = await warm()
  const task = await post(`/sessions/${id}/tasks`, { input: { prompt: 'hi' }, timeout: '5s', name: 'ask' })
  expect(task).toMatchObject({ status: 201, json: { type: 'task', name: 'ask' } })
  const shown = (await hub.call('GET', `/api/v1/sessions/${id}`)).json
  expect(shown).toMatchObject({ state: 'working', working: [task.json.id], queued: 0 })
  const fence = await worker.placed(task.json.id)
  await worker.report({ kind: 'running', fence, at: Date.now(), isolation: 'session' })
  await worker.ended(fence, { result: { text: 'ho' } })
  const detail = (await hub.call('GET', `/api/v1/jobs/${task.json.id}`)).json
  expect(detail).toMatchObject({ state: 'succeeded', result: { text: 'ho' }, session: id })
  expect(detail.spec).toMatchObject({ task: { session: id }, input: { prompt: 'hi' }, timeoutMs: 5000 })
  expect(detail.history).toMatchObject([{ isolation: 'session' }])
})

it('answers a full session with 503 and when to try again, and repeats a task with its key', async () => {
  const id = await warm({ session: { queue: 0 } })
  const headers = { 'idempotency-key': 'one' }
  const call = () => hub.call('POST', `/api/v1/sessions/${id}/tasks`, { body: { input: {} }, headers })
  const first = await call()
  const full = await post(`/sessions/${id}/tasks`, { input: {} })
  expect(full).toMatchObject({ status: 503, json: { code: 'session.full' } })
  expect(full.headers.get('retry-after')).toBe('1')
  expect(full.json.detail).toContain('1 tasks in places and 0 in the queue; room is for 1')
  expect((await call()).json.id).toBe(first.json.id)
})

it('ends a session on demand, and then knows it as ended with its reason', async () => {
  const id = await warm()
  const fence = await worker.placed(id)
  expect(await hub.call('DELETE', `/api/v1/sessions/${id}`)).toMatchObject({
    status: 202,
    json: { effect: 'stopping', session: { reason: 'manual' } },
  })
  await worker.ended(fence)
  const ended = (await hub.call('GET', `/api/v1/sessions/${id}`)).json
  expect(ended).toMatchObject({ state: 'ended', reason: 'manual', endedAt: expect.any(String) })
  expect((await hub.call('GET', '/api/v1/sessions?state=ended')).json.sessions).toHaveLength(1)
  for (const [method, path, body] of [
    ['DELETE', '', undefined],
    ['POST', '/keepalive', undefined],
    ['POST', '/tasks', { input: {} }],
  ] as const) {
    const reply = await hub.call(method, `/api/v1/sessions/${id}${path}`, { body })
    expect(reply).toMatchObject({ status: 404, json: { code: 'session.not_found' } })
  }
})

it('moves the last activity by a keepalive', async () => {
  const id = await warm()
  const before = (await hub.call('GET', `/api/v1/sessions/${id}`)).json.lastActivityAt
  const after = (await post(`/sessions/${id}/keepalive`, undefined)).json.lastActivityAt
  expect(Date.parse(after)).toBeGreaterThanOrEqual(Date.parse(before))
})

it('refuses what is no session, tasks with other fields, and presets nobody knows', async () => {
  const job = (await post('/jobs', { type: 'noop' })).json.jobs[0].id
  expect((await hub.call('GET', `/api/v1/sessions/${job}`)).json.code).toBe('session.not_found')
  expect((await hub.call('GET', '/api/v1/sessions/ffffffffffff')).json.code).toBe('session.not_found')
  expect((await post('/sessions', { type: 'noop' })).json).toMatchObject({ code: 'spec.invalid' })
  expect((await post('/sessions', { preset: 'no/such' })).json).toMatchObject({ status: 404, code: 'preset.not_found' })
  expect((await post('/jobs', { task: { preset: 'no/such' } })).json.code).toBe('preset.not_found')
  expect((await post('/jobs', { task: { session: 'no' } })).json.code).toBe('session.not_found')
  const id = await warm()
  expect((await post(`/sessions/${id}/tasks`, { command: 'x' })).status).toBe(400)
})

it('makes a session of a preset the hub knows, and lets it be another in what is no business of the preset', async () => {
  const made = await post('/sessions', { preset: 'm/p', session: { concurrency: 3 } })
  expect(made.json).toMatchObject({ preset: 'm/p', concurrency: 3 })
  const { spec } = (await hub.call('GET', `/api/v1/jobs/${made.json.id}`)).json
  expect(spec).toMatchObject({ command: ['serve'], preset: 'm/p' })
})

it('says why a task waits: what its session does and how many come first', async () => {
  const id = await warm()
  for (let n = 0; n < 3; n += 1) await post(`/sessions/${id}/tasks`, { input: {} })
  const { json } = await hub.call('GET', '/api/v1/jobs?state=queued')
  const explained = (await hub.call('GET', `/api/v1/jobs/${json.jobs[0].id}/explain`)).json
  expect(explained.summary).toBe('the session could take it, 1 of 1 places are taken')
  expect(explained.position).toEqual({ ahead: 1, isExact: true })
  expect(explained.reasons).toMatchObject([{ codes: ['session.busy'], job: id, workers: { names: ['bench'] } }])
})

it('says of a task whose preset no session serves that none lives', async () => {
  const id = await warm({ preset: 'm/p' })
  const fence = await worker.placed(id)
  const [busy, waits] = [(await post('/jobs', presetTask)).json, (await post('/jobs', presetTask)).json]
  await worker.ended(await worker.placed(busy.jobs[0].id))
  await worker.ended(await worker.placed(waits.jobs[0].id))
  const late = (await post('/jobs', presetTask)).json.jobs[0].id
  await worker.ended(await worker.placed(late), { outcome: 'lost', error: 'gone' })
  await worker.ended(fence)
  const explained = (await hub.call('GET', `/api/v1/jobs/${late}/explain`)).json
  expect(explained).toMatchObject({ job: { state: 'queued' }, reasons: [] })
  expect(explained.summary).toContain('no session of preset m/p lives')
})

const presetTask = { task: { preset: 'm/p' }, input: {} }
