import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { ChildProgram } from './harness/child-program.ts'
import { House } from './harness/house.ts'

let house: House
let hub: ChildProgram
let token: string

beforeAll(async () => {
  house = await House.open()
  hub = await house.startHub()
  token = (await readFile(house.path('hub', 'admin-token'), 'utf8')).trim()
  await house.startWorker('w')
})
afterAll(() => house.close())

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
async function call(method: string, path: string, body?: object): Promise<{ status: number; json: any }> {
  const reply = await fetch(`${house.url}/qubix/t/${token}${path}`, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: reply.status, json: await reply.json() }
}

const create = async (script: string, inputData: object = {}) => {
  const body = { modelType: 'custom_script', computeNeeded: 0.1, inputData: { script, ...inputData } }
  const { status, json } = await call('POST', '/api/jobs/create', body)
  expect(status, JSON.stringify(json)).toBe(200)
  return json.job.id as string
}
const status = async (id: string) => (await call('GET', `/api/jobs/${id}`)).json.status

interface Message {
  readonly type: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
  readonly data: any
}

/** A page that collects what it is told. */
async function openPage(): Promise<{ socket: WebSocket; seen: Message[] }> {
  const socket = new WebSocket(`${house.url.replace('http', 'ws')}/qubix/t/${token}/`)
  const seen: Message[] = []
  socket.on('message', data => seen.push(JSON.parse(String(data))))
  await once(socket, 'open')
  return { socket, seen }
}

it('runs a script of a customer and tells a page of it to the end', async () => {
  const id = await create('import sys\nprint("said", *sys.argv[1:])\nprint("ERROR: loud", file=sys.stderr)\n', {
    args: ['a', 'b'],
  })
  const { socket, seen } = await openPage()
  socket.send(JSON.stringify({ type: 'subscribe:job', subscriptionId: id }))
  await expect.poll(() => seen.at(-1)?.type).toBe('JOB_COMPLETED')
  expect(seen.at(-1)?.data).toMatchObject({ jobId: id, status: 'COMPLETED' })
  const { json } = await call('GET', `/api/jobs/${id}/logs?offset=0`)
  const lines = json.logs.map(({ level, message }: { level: string; message: string }) => `${level} ${message}`)
  expect(lines.toSorted()).toEqual(['error ERROR: loud', 'info said a b'])
  socket.close()
  await once(socket, 'close')
})

it('says why a script failed, and reaches its process to cancel it', async () => {
  const failing = await create('raise SystemExit(3)')
  await expect.poll(() => status(failing)).toBe('FAILED')
  expect((await call('GET', `/api/jobs/${failing}`)).json.error).toMatch(/3/)
  const endless = await create('import time\nprint("begun", flush=True)\ntime.sleep(600)')
  await expect.poll(() => status(endless)).toBe('RUNNING')
  expect((await call('POST', `/api/jobs/${endless}/cancel`)).json.success).toBe(true)
  await expect.poll(() => status(endless)).toBe('CANCELLED')
})

it('shows the machine that is really there, and matches by it', async () => {
  const { json: providers } = await call('GET', '/api/providers')
  expect(providers).toHaveLength(1)
  expect(Object.keys(providers[0])).toHaveLength(9)
  const { json: match } = await call('POST', '/api/providers/match', { modelType: 'custom_script' })
  expect(match).toMatchObject({ success: true, totalAvailable: 1 })
  const { json: stats } = await call('GET', '/api/stats')
  expect(stats.providers).toEqual({ total: 1, active: 1 })
})

it('knows its jobs after a restart of the hub', async () => {
  const id = await create('print(1)')
  await expect.poll(() => status(id)).toBe('COMPLETED')
  const { json: before } = await call('GET', `/api/jobs/${id}`)
  hub.signal('SIGKILL')
  await hub.exited
  hub = await house.startHub()
  expect((await call('GET', `/api/jobs/${id}`)).json).toEqual(before)
})
