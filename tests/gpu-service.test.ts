import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { GpuClient, type GpuStream, type SseEvent } from './harness/gpu-client.ts'
import { House } from './harness/house.ts'

const KEY = 'a-key-of-the-old-service'
const ONE_OFF = { task_type: 'oneoff', task_difficulty: 'low', model_id: 'talk', task_preset: 'inference' }
const SESSION = { task_type: 'session', task_difficulty: 'low', model_id: 'echo', task_preset: 'inference' }

let house: House
let hub: ChildProgram
let client: GpuClient
/** The same service below the prefix of the hub's own listener. */
let below: GpuClient
const hubEnv = { INTERNAL_API_KEY: KEY, MAX_TASK_TIMEOUT: '600', CORS_ORIGINS: 'https://app.example' }
let gates = 0

beforeAll(async () => {
  house = await House.open()
  for (const name of ['gpu_talk.py', 'gpu_echo.py'])
    await copyFile(fileURLToPath(new URL(`./harness/${name}`, import.meta.url)), house.path(name))
  await mkdir(house.path('presets'))
  const program = (name: string) => ({ command: ['python3', house.path(name)], isolation: 'none' })
  const talk = program('gpu_talk.py')
  await writeFile(
    house.path('presets', 'model_presets.yaml'),
    JSON.stringify({
      models: {
        talk: {
          inference: talk,
          short: { ...talk, timeout_seconds: 1, metadata: { mode: 'hang' } },
          cpu: { ...talk, resources: { gpus: 0, cpus: 0.1 } },
        },
        echo: { inference: { ...program('gpu_echo.py'), type: 'session', session: { queue: 1 } } },
      },
    }),
  )
  await writeFile(
    house.path('presets', 'task_definitions.yaml'),
    JSON.stringify({ greet: { task_difficulty: 'high' } }),
  )
  await writeFile(house.path('presets', 'task_actions.yaml'), JSON.stringify({ greet: talk }))
  await startHub()
  await house.startWorker('w', {
    args: ['--simulate-gpus', '2x24GB', '--max-jobs', '8'],
    env: { GPU_DEVICE_DIFFICULTY: '0:low,1:high' },
  })
})
afterAll(() => house.close())

async function startHub(port = 0): Promise<number> {
  hub = await house.startHub({ env: hubEnv, args: ['--presets', house.path('presets'), '--gpu-service', String(port)] })
  const { gpuService } = await hub.ready()
  client = new GpuClient(String(gpuService), KEY)
  below = new GpuClient(`${house.url}/gpu`, KEY)
  return Number(new URL(String(gpuService)).port)
}

/** A file whose making lets a program go on. */
function aGate(): { readonly gate: string; readonly open: () => Promise<void> } {
  gates += 1
  const gate = house.path(`gate-${gates}`)
  return { gate, open: () => writeFile(gate, '') }
}

const submit = (body: object, metadata: object = {}): Promise<GpuStream> =>
  client.open('/api/tasks/submit', { body: { ...body, metadata } })
const idsOf = (events: readonly SseEvent[]) => events.map(({ id }) => id)
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
const namesOf = (events: readonly SseEvent[]) => events.map(({ event }) => event)
const isDelta = ({ event }: SseEvent) => event === 'text_delta'

/** Both devices are free again: nothing of a test is left. */
async function allFree(): Promise<void> {
  await expect.poll(async () => (await client.call('/health/resources')).json.capacity.available_gpus).toBe(2)
}

it('tells who it is and how all machines are, without a key', async () => {
  expect((await client.call('/', { key: null })).json).toMatchObject({ service: 'gpu-service', status: 'running' })
  const health = await below.call('/health', { key: null })
  expect(health.json).toMatchObject({ status: 'healthy', active_sessions: 0, active_tasks: 0 })
  expect(health.json.gpus).toMatchObject([
    { device_id: 0, difficulty: 'low', is_available: true, memory_total_mb: 24_576 },
    { device_id: 1, difficulty: 'high', is_available: true },
  ])
})

it('streams the events of a program typed, numbered, in order, as both kinds of clients read them', async () => {
  const stream = await submit(ONE_OFF, { topic: 'kites' })
  expect(stream.response.headers).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  })
  const events = await stream.rest()
  expect(idsOf(events)).toEqual(upTo(11))
  const deltas = upTo(4).map(() => 'text_delta')
  expect(namesOf(events)).toEqual(
    expect.arrayContaining(['connection', 'worker', 'connection', 'worker', ...deltas, 'logs', 'text', 'task_finish']),
  )
  expect(events[0]).toMatchObject({ event: 'connection', data: { status: 'allocated', gpu_id: 0 } })
  expect(events[1]).toEqual({ event: 'worker', data: { status: 'created' }, id: 2 })
  expect(events.filter(isDelta).map(({ data }) => data.delta)).toEqual(upTo(4).map(i => `part ${i - 1}\n`))
  expect(events.find(({ event }) => event === 'logs')?.data).toMatchObject({
    log: 'WARNING: nearly done',
    level: 'warning',
    stream: 'stderr',
  })
  expect(events.at(-1)).toMatchObject({ event: 'task_finish', data: { status: 'completed' } })
  const { task_id: id } = events[0]?.data ?? {}
  expect(await below.whole(`/api/tasks/${id}/events`)).toEqual(events)
  const detail = (await client.call(`/api/tasks/${id}`)).json
  expect(detail).toMatchObject({
    status: 'completed',
    model_id: 'talk',
    task_preset: 'inference',
    gpu_device_id: 0,
    error_message: null,
    relaxed: ['isolation: none'],
    logs: ['WARNING: nearly done'],
  })
  expect((await client.call('/api/tasks?status=completed&limit=1')).json.tasks).toMatchObject([{ task_id: id }])
})

it.each([
  ['completed', 'inference', {}, undefined],
  ['failed', 'inference', { mode: 'fail' }, 'no luck'],
  ['failed', 'inference', { mode: 'crash' }, expect.stringContaining('SIGKILL')],
  ['timeout', 'short', {}, 'Task timeout exceeded'],
])('tells how a task ended exactly once, as its last word: %s, %s %o', async (status, task_preset, metadata, error) => {
  await allFree()
  const events = await (await submit({ ...ONE_OFF, task_preset }, metadata)).rest()
  expect(namesOf(events).filter(name => name === 'task_finish' || name === 'finish')).toEqual(['task_finish'])
  expect(events.at(-1)?.data).toEqual({
    status,
    elapsed_seconds: expect.any(Number),
    ...(error === undefined ? {} : { error }),
  })
  expect(idsOf(events)).toEqual(upTo(events.length))
})

it('ends a task that is cancelled, and frees its GPU when the program is gone', async () => {
  await allFree()
  const stream = await submit(ONE_OFF, { mode: 'hang' })
  const [first] = await stream.until(isDelta)
  const id = first?.data.task_id
  expect((await client.call('/health/resources')).json.resource_allocation).toMatchObject({
    gpus: [{ current_task_id: id, is_available: false }, { current_task_id: null }],
    running_tasks: { count: 1, task_ids: [id] },
  })
  const answer = await client.call(`/api/tasks/${id}/cancel`, { method: 'POST' })
  expect(answer).toMatchObject({ status: 200, json: { success: true, task_id: id } })
  const rest = await stream.rest()
  expect(rest.at(-1)?.data).toMatchObject({ status: 'cancelled', error: 'canceled by gpu-service' })
  expect((await client.call(`/api/tasks/${id}/cancel`, { method: 'POST' })).status).toBe(409)
  await allFree()
})

it('goes on behind the last event a client saw, and has nothing more to say in the end', async () => {
  await allFree()
  const { gate, open } = aGate()
  const stream = await submit(ONE_OFF, { gate, lines: 40 })
  const seen = await stream.until(({ id }) => id === 12)
  stream.drop()
  const id = seen[0]?.data.task_id
  const again = await client.open(`/api/tasks/${id}/events`, { headers: { 'last-event-id': '12' } })
  await open()
  const rest = await again.rest()
  const all = await client.whole(`/api/tasks/${id}/events`)
  expect([...seen, ...rest]).toEqual(all)
  expect(idsOf(all)).toEqual(upTo(all.length))
  const last = String(all.length)
  expect((await client.call(`/api/tasks/${id}/events`, { headers: { 'last-event-id': last } })).status).toBe(204)
})

it('refuses at once when no GPU of the difficulty is free, or queues with the position when asked', async () => {
  await allFree()
  const { gate, open } = aGate()
  const stream = await submit(ONE_OFF, { gate })
  await stream.until(isDelta)
  const body = { ...ONE_OFF, metadata: {} }
  const busy = await client.call('/api/tasks/submit', { body })
  expect(busy).toMatchObject({ status: 503, json: { detail: 'No available GPU with difficulty=low' } })
  expect(Number(busy.headers['retry-after'])).toBeGreaterThan(0)
  expect((await client.call('/health')).json.gpus).toMatchObject([{ is_available: false }, { is_available: true }])
  const other = await client.whole('/api/tasks/predefined', { body: { task_name: 'greet' } })
  expect(other[0]?.data).toMatchObject({ status: 'allocated', gpu_id: 1 })
  const waiting = await client.open('/api/tasks/submit', { body, headers: { 'x-queue': 'wait' } })
  expect(await waiting.next()).toMatchObject({ event: 'connection', data: { status: 'queued', position: 1 }, id: null })
  const second = await client.open('/api/tasks/submit', { body: { ...body, wait: true } })
  expect(await second.next()).toMatchObject({ data: { status: 'queued', position: 2 } })
  await open()
  for (const one of [stream, waiting, second]) {
    const rest = await one.rest()
    expect(rest.at(-1)?.data.status).toBe('completed')
  }
})

it('keeps a task running when its client leaves, or ends it if that was asked', async () => {
  await allFree()
  const { gate, open } = aGate()
  const kept = await submit(ONE_OFF, { gate })
  const [first] = await kept.until(isDelta)
  kept.drop()
  const ended = await client.open('/api/tasks/predefined', {
    body: { task_name: 'greet', metadata: { mode: 'hang' }, on_disconnect: 'cancel' },
  })
  const [other] = await ended.until(isDelta)
  ended.drop()
  const state = async (event: SseEvent | undefined) => (await client.call(`/api/tasks/${event?.data.task_id}`)).json
  await expect.poll(() => state(other)).toMatchObject({ status: 'cancelled', on_disconnect: 'cancel' })
  expect((await state(other)).error_message).toContain('disconnect')
  expect(await state(first)).toMatchObject({ status: 'running' })
  await open()
  await expect.poll(() => state(first)).toMatchObject({ status: 'completed' })
})

it('serves two hundred clients at once', async () => {
  await allFree()
  const { gate, open } = aGate()
  const stream = await submit(ONE_OFF, { gate, lines: 60 })
  const seen = await stream.until(isDelta)
  const id = seen[0]?.data.task_id
  const clients = await Promise.all(upTo(200).map(() => client.open(`/api/tasks/${id}/events`)))
  const reading = clients.map(one => one.rest())
  const began = performance.now()
  await open()
  const all = await Promise.all(reading)
  const tookMs = performance.now() - began
  const whole = [...seen, ...(await stream.rest())]
  for (const events of all) expect(events).toEqual(whole)
  expect(tookMs).toBeLessThan(30_000)
})

it('goes on with the same numbers after the hub was killed', async () => {
  await allFree()
  const { gate, open } = aGate()
  const stream = await submit(ONE_OFF, { gate, lines: 20 })
  const seen = await stream.until(({ id }) => id === 10)
  const dropped = stream.rest().catch(() => [])
  const { port } = new URL(String((await hub.ready()).gpuService))
  hub.signal('SIGKILL')
  await hub.exited
  await dropped
  await startHub(Number(port))
  const id = seen[0]?.data.task_id
  const again = await client.open(`/api/tasks/${id}/events`, { headers: { 'last-event-id': '10' } })
  await open()
  const rest = await again.rest()
  expect([...seen, ...rest]).toEqual(await client.whole(`/api/tasks/${id}/events`))
  expect(rest.at(-1)?.data.status).toBe('completed')
})

it('keeps a program between the tasks of a session, and frees its GPU when the session is killed', async () => {
  await allFree()
  const task = (say: string, more: object = {}) => ({ body: { ...SESSION, ...more, metadata: { say } } })
  const first = await client.whole('/api/tasks/submit', task('a', { create_session: true }))
  expect(first[0]?.data).toMatchObject({ status: 'session_ready', gpu_id: 0, session_id: expect.any(String) })
  const { session_id } = first[0]?.data ?? {}
  expect(first.find(({ event }) => event === 'text')?.data).toEqual({ content: '1: a', model: 'echo' })
  const found = await client.whole('/api/tasks/submit', task('b'))
  expect(found[0]?.data).toMatchObject({ status: 'session_found', session_id, gpu_id: 0 })
  expect(found.find(({ event }) => event === 'text')?.data.content).toBe('2: b')
  const named = await client.whole('/api/tasks/submit', task('c', { session_id }))
  expect(named.map(({ event, data }) => [event, data.content ?? data.status])).toEqual([
    ['connection', 'session_found'],
    ['text', '3: c'],
    ['task_finish', 'completed'],
  ])
  const { json } = await client.call('/api/sessions')
  expect(json).toMatchObject({
    total: 1,
    sessions: [{ session_id, status: 'waiting', gpu_device_id: 0, queue_size: 0 }],
  })
  expect((await client.call('/health')).json).toMatchObject({
    active_sessions: 1,
    gpus: [{ current_session_id: session_id }, {}],
  })
  const alive = await client.call(`/api/sessions/${session_id}/keepalive`, { method: 'POST' })
  expect(alive.json).toMatchObject({ success: true, message: 'Session keepalive updated' })
  const other = await client.call('/api/tasks/submit', { body: { ...ONE_OFF, task_type: 'session', session_id } })
  expect(other.status).toBe(400)
  const killed = await client.call(`/api/sessions/${session_id}`, { method: 'DELETE' })
  expect(killed.json).toEqual({ success: true, session_id, message: 'Session killed successfully' })
  await allFree()
  for (const method of ['GET', 'DELETE'])
    expect((await client.call(`/api/sessions/${session_id}`, { method })).status).toBe(404)
  expect(await client.call('/api/tasks/submit', task('d', { session_id }))).toMatchObject({
    status: 404,
    json: { detail: `Session ${session_id} not found` },
  })
})

it('takes a one-off program as a session', async () => {
  await allFree()
  const events = await (await submit({ ...ONE_OFF, task_type: 'session', create_session: true })).rest()
  expect(events[0]?.data).toMatchObject({ status: 'session_ready', gpu_id: 0 })
  expect(events.at(-1)?.data).toMatchObject({ status: 'completed' })
  await allFree()
})

it('answers what is wrong with its status and in detail, and never with a key', async () => {
  const body = { ...ONE_OFF }
  const answers: readonly (readonly [number, string, Parameters<GpuClient['call']>[1]])[] = [
    [401, '/api/tasks', { key: null }],
    [401, '/api/tasks', { key: 'wrong-key' }],
    [401, '/api/tasks/submit', { key: 'wrong-key', body }],
    [401, '/api/sessions', { key: (await house.client.createToken({ role: 'read' })).secret }],
    [400, '/api/tasks/submit', { body: { ...body, task_preset: 'nothing' } }],
    [404, '/api/tasks/predefined', { body: { task_name: 'nothing' } }],
    [400, '/api/tasks/submit', { body: { ...body, timeout_seconds: 900 } }],
    [422, '/api/tasks/submit', { body: { ...body, timeout_seconds: 9 } }],
    [422, '/api/tasks/submit', { body: { ...body, timeout_seconds: 1801 } }],
    [422, '/api/tasks/submit', { body: { ...body, task_type: 'other' } }],
    [422, '/api/tasks/submit', { body: {} }],
    [422, '/api/tasks/submit', { body: 'no json' }],
    [422, '/api/tasks/custom', { body: { job_type: 'custom' } }],
    [400, '/api/tasks/custom', { body: { job_type: 'custom', docker_image: 'not allowed here' } }],
    [
      400,
      '/api/tasks/custom',
      { body: { job_type: 'custom', docker_image: 'image:1', volume_mounts: { '/etc': 'x' } } },
    ],
    [400, '/api/tasks/custom', { body: { job_type: 'custom', docker_image: 'image:1' } }],
    [404, '/api/tasks/01a1e401-c35d-7c93-b2ab-04068e0c51d2', {}],
    [404, '/api/tasks/nothing/events', {}],
    [404, '/api/sessions/nothing', {}],
    [404, '/api/sessions/nothing/keepalive', { method: 'POST' }],
    [404, '/api/nothing', {}],
  ]
  for (const [status, path, call] of answers) {
    const answer = await client.call(path, call)
    expect([path, call, answer.status]).toEqual([path, call, status])
    expect(answer.json).toEqual({ detail: status === 422 ? expect.any(Array) : expect.any(String) })
  }
  const { json } = await client.call('/api/tasks/predefined', { body: { timeout_seconds: 1 } })
  expect(json.detail).toEqual([
    { type: 'missing', loc: ['body', 'task_name'], msg: 'Field required' },
    { type: 'too_small', loc: ['body', 'timeout_seconds'], msg: expect.any(String) },
  ])
  expect(hub.stderr).not.toMatch(/wrong-key|a-key-of/)
})

it('takes a token of the hub as a key, and shows nobody the tasks of others', async () => {
  const { secret } = await house.client.createToken({ role: 'submit', owner: 'bob' })
  const body = { ...ONE_OFF, task_preset: 'cpu' }
  const events = await client.whole('/api/tasks/submit', { key: secret, body })
  expect(events.at(-1)?.data.status).toBe('completed')
  const id = events[0]?.data.task_id
  expect((await client.call('/api/tasks', { key: secret })).json.tasks).toMatchObject([
    { task_id: id, gpu_device_id: null },
  ])
  expect((await client.call(`/api/tasks/${id}`)).status).toBe(404)
})

it('lets pages of the allowed origins in, and no others', async () => {
  const ask = (origin: string) => client.call('/health', { key: null, method: 'OPTIONS', headers: { origin } })
  const allowed = await ask('https://app.example')
  expect(allowed.status).toBe(204)
  expect(allowed.headers['access-control-allow-origin']).toBe('https://app.example')
  expect((await ask('https://evil.example')).headers['access-control-allow-origin']).toBeUndefined()
})
