import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { GpuClient, GpuStream, SseEvent } from './harness/gpu-client.ts'
import { GpuHouse, ONE_OFF } from './harness/gpu-house.ts'

let served: GpuHouse
beforeAll(async () => {
  served = await GpuHouse.open()
})
afterAll(() => served.house.close())
let gates = 0

/** A file whose making lets a program go on. */
function aGate(): { readonly gate: string; readonly open: () => Promise<void> } {
  gates += 1
  const gate = served.house.path(`gate-${gates}`)
  return { gate, open: () => writeFile(gate, '') }
}

const submit = (body: object, metadata: object = {}): Promise<GpuStream> =>
  served.client.open('/api/tasks/submit', { body: { ...body, metadata } })
const idsOf = (events: readonly SseEvent[]) => events.map(({ id }) => id)
const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
const namesOf = (events: readonly SseEvent[]) => events.map(({ event }) => event)
const isDelta = ({ event }: SseEvent) => event === 'text_delta'

it('tells who it is and how all machines are, without a key', async () => {
  expect((await served.client.call('/', { key: null })).json).toMatchObject({
    service: 'gpu-service',
    status: 'running',
  })
  const health = await served.below.call('/health', { key: null })
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
  expect(await served.below.whole(`/api/tasks/${id}/events`)).toEqual(events)
  const detail = (await served.client.call(`/api/tasks/${id}`)).json
  expect(detail).toMatchObject({
    status: 'completed',
    model_id: 'talk',
    task_preset: 'inference',
    gpu_device_id: 0,
    error_message: null,
    relaxed: ['isolation: none'],
    logs: ['WARNING: nearly done'],
  })
  expect((await served.client.call('/api/tasks?status=completed&limit=1')).json.tasks).toMatchObject([{ task_id: id }])
})

it.each([
  ['completed', 'inference', {}, undefined],
  ['failed', 'inference', { mode: 'fail' }, 'no luck'],
  ['failed', 'inference', { mode: 'crash' }, expect.stringContaining('SIGKILL')],
  ['timeout', 'short', {}, 'Task timeout exceeded'],
])('tells how a task ended exactly once, as its last word: %s, %s %o', async (status, task_preset, metadata, error) => {
  await served.allFree()
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
  await served.allFree()
  const stream = await submit(ONE_OFF, { mode: 'hang' })
  const [first] = await stream.until(isDelta)
  const id = first?.data.task_id
  expect((await served.client.call('/health/resources')).json.resource_allocation).toMatchObject({
    gpus: [{ current_task_id: id, is_available: false }, { current_task_id: null }],
    running_tasks: { count: 1, task_ids: [id] },
  })
  const answer = await served.client.call(`/api/tasks/${id}/cancel`, { method: 'POST' })
  expect(answer).toMatchObject({ status: 200, json: { success: true, task_id: id } })
  const rest = await stream.rest()
  expect(rest.at(-1)?.data).toMatchObject({ status: 'cancelled', error: 'canceled by gpu-service' })
  expect((await served.client.call(`/api/tasks/${id}/cancel`, { method: 'POST' })).status).toBe(409)
  await served.allFree()
})

it('goes on behind the last event a client saw, and has nothing more to say in the end', async () => {
  await served.allFree()
  const { gate, open } = aGate()
  const stream = await submit(ONE_OFF, { gate, lines: 40 })
  const seen = await stream.until(({ id }) => id === 12)
  stream.drop()
  const id = seen[0]?.data.task_id
  const again = await served.client.open(`/api/tasks/${id}/events`, { headers: { 'last-event-id': '12' } })
  await open()
  const rest = await again.rest()
  const all = await served.client.whole(`/api/tasks/${id}/events`)
  expect([...seen, ...rest]).toEqual(all)
  expect(idsOf(all)).toEqual(upTo(all.length))
  const last = String(all.length)
  expect((await served.client.call(`/api/tasks/${id}/events`, { headers: { 'last-event-id': last } })).status).toBe(204)
})

it('refuses at once when no GPU of the difficulty is free, or queues with the position when asked', async () => {
  await served.allFree()
  const { gate, open } = aGate()
  const stream = await submit(ONE_OFF, { gate })
  await stream.until(isDelta)
  const body = { ...ONE_OFF, metadata: {} }
  const busy = await served.client.call('/api/tasks/submit', { body })
  expect(busy).toMatchObject({ status: 503, json: { detail: 'No available GPU with difficulty=low' } })
  expect(Number(busy.headers['retry-after'])).toBeGreaterThan(0)
  expect((await served.client.call('/health')).json.gpus).toMatchObject([
    { is_available: false },
    { is_available: true },
  ])
  const other = await served.client.whole('/api/tasks/predefined', { body: { task_name: 'greet' } })
  expect(other[0]?.data).toMatchObject({ status: 'allocated', gpu_id: 1 })
  const waiting = await served.client.open('/api/tasks/submit', { body, headers: { 'x-queue': 'wait' } })
  expect(await waiting.next()).toMatchObject({ event: 'connection', data: { status: 'queued', position: 1 }, id: null })
  const second = await served.client.open('/api/tasks/submit', { body: { ...body, wait: true } })
  expect(await second.next()).toMatchObject({ data: { status: 'queued', position: 2 } })
  await open()
  for (const one of [stream, waiting, second]) {
    const rest = await one.rest()
    expect(rest.at(-1)?.data.status).toBe('completed')
  }
})

it('keeps a task running when its client leaves, or ends it if that was asked', async () => {
  await served.allFree()
  const { gate, open } = aGate()
  const kept = await submit(ONE_OFF, { gate })
  const [first] = await kept.until(isDelta)
  kept.drop()
  const ended = await served.client.open('/api/tasks/predefined', {
    body: { task_name: 'greet', metadata: { mode: 'hang' }, on_disconnect: 'cancel' },
  })
  const [other] = await ended.until(isDelta)
  ended.drop()
  const state = async (event: SseEvent | undefined) =>
    (await served.client.call(`/api/tasks/${event?.data.task_id}`)).json
  await expect.poll(() => state(other)).toMatchObject({ status: 'cancelled', on_disconnect: 'cancel' })
  expect((await state(other)).error_message).toContain('disconnect')
  expect(await state(first)).toMatchObject({ status: 'running' })
  await open()
  await expect.poll(() => state(first)).toMatchObject({ status: 'completed' })
})

it('serves two hundred clients at once', async () => {
  await served.allFree()
  const { gate, open } = aGate()
  const stream = await submit(ONE_OFF, { gate, lines: 60 })
  const seen = await stream.until(isDelta)
  const id = seen[0]?.data.task_id
  const clients = await Promise.all(upTo(200).map(() => served.client.open(`/api/tasks/${id}/events`)))
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
  await served.allFree()
  const { gate, open } = aGate()
  const stream = await submit(ONE_OFF, { gate, lines: 20 })
  const seen = await stream.until(({ id }) => id === 10)
  const dropped = stream.rest().catch(() => [])
  await served.hub.kill()
  await dropped
  await served.restartHub()
  const id = seen[0]?.data.task_id
  const again = await served.client.open(`/api/tasks/${id}/events`, { headers: { 'last-event-id': '10' } })
  await open()
  const rest = await again.rest()
  expect([...seen, ...rest]).toEqual(await served.client.whole(`/api/tasks/${id}/events`))
  expect(rest.at(-1)?.data.status).toBe('completed')
})

it('answers what is wrong with its status and in detail, and never with a key', async () => {
  const body = { ...ONE_OFF }
  const answers: readonly (readonly [number, string, Parameters<GpuClient['call']>[1]])[] = [
    [401, '/api/tasks', { key: null }],
    [401, '/api/tasks', { key: 'wrong-key' }],
    [401, '/api/tasks/submit', { key: 'wrong-key', body }],
    [401, '/api/sessions', { key: (await served.house.client.createToken({ role: 'read' })).secret }],
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
    const answer = await served.client.call(path, call)
    expect([path, call, answer.status]).toEqual([path, call, status])
    expect(answer.json).toEqual({ detail: status === 422 ? expect.any(Array) : expect.any(String) })
  }
  const { json } = await served.client.call('/api/tasks/predefined', { body: { timeout_seconds: 1 } })
  expect(json.detail).toEqual([
    { type: 'missing', loc: ['body', 'task_name'], msg: 'Field required' },
    { type: 'too_small', loc: ['body', 'timeout_seconds'], msg: expect.any(String) },
  ])
  expect(served.hub.stderr).not.toMatch(/wrong-key|a-key-of/)
})

it('takes a token of the hub as a key, and shows nobody the tasks of others', async () => {
  const { secret } = await served.house.client.createToken({ role: 'submit', owner: 'bob' })
  const body = { ...ONE_OFF, task_preset: 'cpu' }
  const events = await served.client.whole('/api/tasks/submit', { key: secret, body })
  expect(events.at(-1)?.data.status).toBe('completed')
  const id = events[0]?.data.task_id
  expect((await served.client.call('/api/tasks', { key: secret })).json.tasks).toMatchObject([
    { task_id: id, gpu_device_id: null },
  ])
  expect((await served.client.call(`/api/tasks/${id}`)).status).toBe(404)
})

it('lets pages of the allowed origins in, and no others', async () => {
  const ask = (origin: string) => served.client.call('/health', { key: null, method: 'OPTIONS', headers: { origin } })
  const allowed = await ask('https://app.example')
  expect(allowed.status).toBe(204)
  expect(allowed.headers['access-control-allow-origin']).toBe('https://app.example')
  expect((await ask('https://evil.example')).headers['access-control-allow-origin']).toBeUndefined()
})
