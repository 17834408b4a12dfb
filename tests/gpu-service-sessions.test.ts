import { afterAll, beforeAll, expect, it } from 'vitest'
import { GpuHouse, ONE_OFF, SESSION } from './harness/gpu-house.ts'

let served: GpuHouse
beforeAll(async () => {
  served = await GpuHouse.open()
})
afterAll(() => served.house.close())

it('keeps a program between the tasks of a session, and frees its GPU when the session is killed', async () => {
  await served.allFree()
  const task = (say: string, more: object = {}) => ({ body: { ...SESSION, ...more, metadata: { say } } })
  const first = await served.client.whole('/api/tasks/submit', task('a', { create_session: true }))
  expect(first[0]?.data).toMatchObject({ status: 'session_ready', gpu_id: 0, session_id: expect.any(String) })
  const { session_id } = first[0]?.data ?? {}
  expect(first.find(({ event }) => event === 'text')?.data).toEqual({ content: '1: a', model: 'echo' })
  const found = await served.client.whole('/api/tasks/submit', task('b'))
  expect(found[0]?.data).toMatchObject({ status: 'session_found', session_id, gpu_id: 0 })
  expect(found.find(({ event }) => event === 'text')?.data.content).toBe('2: b')
  const named = await served.client.whole('/api/tasks/submit', task('c', { session_id }))
  expect(named.map(({ event, data }) => [event, data.content ?? data.status])).toEqual([
    ['connection', 'session_found'],
    ['text', '3: c'],
    ['task_finish', 'completed'],
  ])
  const { json } = await served.client.call('/api/sessions')
  expect(json).toMatchObject({
    total: 1,
    sessions: [{ session_id, status: 'waiting', gpu_device_id: 0, queue_size: 0 }],
  })
  expect((await served.client.call('/health')).json).toMatchObject({
    active_sessions: 1,
    gpus: [{ current_session_id: session_id }, {}],
  })
  const alive = await served.client.call(`/api/sessions/${session_id}/keepalive`, { method: 'POST' })
  expect(alive.json).toMatchObject({ success: true, message: 'Session keepalive updated' })
  const other = await served.client.call('/api/tasks/submit', {
    body: { ...ONE_OFF, task_type: 'session', session_id },
  })
  expect(other.status).toBe(400)
  const killed = await served.client.call(`/api/sessions/${session_id}`, { method: 'DELETE' })
  expect(killed.json).toEqual({ success: true, session_id, message: 'Session killed successfully' })
  await served.allFree()
  for (const method of ['GET', 'DELETE'])
    expect((await served.client.call(`/api/sessions/${session_id}`, { method })).status).toBe(404)
  expect(await served.client.call('/api/tasks/submit', task('d', { session_id }))).toMatchObject({
    status: 404,
    json: { detail: `Session ${session_id} not found` },
  })
})

it('takes a one-off program as a session', async () => {
  await served.allFree()
  const body = { ...ONE_OFF, task_type: 'session', create_session: true }
  const events = await (await served.client.open('/api/tasks/submit', { body })).rest()
  expect(events[0]?.data).toMatchObject({ status: 'session_ready', gpu_id: 0 })
  expect(events.at(-1)?.data, JSON.stringify(events)).toMatchObject({ status: 'completed' })
  await served.allFree()
})
