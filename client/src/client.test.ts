import type { ServerResponse } from 'node:http'
import { freePort } from '@stoker/net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Client, createClient } from './client.ts'
import { HubUnreachable } from './errors.ts'
import { aJob, asJob, refuse, reply, startTestHub, TEST_TOKEN } from './test-hub.ts'

let hub: Awaited<ReturnType<typeof startTestHub>>
let client: Client

beforeEach(async () => {
  hub = await startTestHub()
  client = createClient({ url: hub.url, token: TEST_TOKEN })
})
afterEach(async () => {
  client.close()
  await hub.close()
})

test('filters become the query of the list', async () => {
  await client.jobs({ state: ['queued', 'active'], label: ['a=1', 'b=2'], limit: 5, name: 'train & co' })
  expect(hub.seen[0]?.query.toString()).toBe('state=queued%2Cactive&label=a%3D1&label=b%3D2&limit=5&name=train+%26+co')
})

test('a refusal carries the problem of the hub', async () => {
  await expect(client.job('abcdef')).rejects.toMatchObject({ message: 'no job abcdef', problem: { status: 404 } })
})

test('a missing token is told as such', async () => {
  const stranger = createClient({ url: hub.url })
  await expect(stranger.me()).rejects.toMatchObject({ problem: { code: 'auth.missing' } })
  stranger.close()
})

test('a port nobody listens on is unreachable, and the error says where', async () => {
  const url = `http://127.0.0.1:${await freePort()}`
  const lonely = createClient({ url })
  const error = await lonely.workers().catch((e: unknown) => e)
  expect(error).toBeInstanceOf(HubUnreachable)
  expect(String(error)).toContain(`${url}, nothing listens there`)
})

test('an answer that is not from a hub is refused in words', async () => {
  hub.on('GET /api/v1/workers', (_, response) => response.writeHead(502).end('<html>bad gateway'))
  await expect(client.workers()).rejects.toThrow(/should answer at .*, status 502 came with "<html>bad gateway"/)
})

test('a hub that is starting is asked again until it answers', async () => {
  let starting = 2
  hub.on('GET /api/v1/workers', (_, response) =>
    starting-- > 0 ? refuse(response, 'hub.starting', 'loading jobs') : reply(response, 200, { workers: [] }),
  )
  expect(await client.workers()).toEqual([])
})

const tooMany = (seconds: number) => (_: unknown, response: ServerResponse) => {
  response.setHeader('retry-after', String(seconds))
  refuse(response, 'rate.limited', 'anna sends more than the 2 requests a second it may')
}

test('what is refused for its number is sent again when the hub says, also what is done only once', async () => {
  hub.on('POST /api/v1/jobs/:id/cancel', (seen, response) => {
    if (hub.seen.length <= 2) tooMany(0)(seen, response)
    else reply(response, 202, { effect: 'canceled', job: asJob(aJob({ state: 'canceled' })) })
  })
  await client.cancel('abcdef')
  expect(hub.seen).toHaveLength(3)
})

test('who would have to wait too long is told at once, and a wait can be given up', async () => {
  hub.on('GET /api/v1/workers', tooMany(3600))
  await expect(client.workers()).rejects.toMatchObject({ problem: { code: 'rate.limited' }, retryAfterSeconds: 3600 })
  hub.on('GET /api/v1/jobs', tooMany(30))
  const over = new AbortController()
  const list = client.jobs({}, over.signal)
  list.catch(() => {})
  await expect.poll(() => hub.seen.length).toBe(2)
  over.abort(new Error('enough'))
  await expect(list).rejects.toThrow('enough')
})

test('a read is repeated after a broken connection, a cancel is not', async () => {
  hub.on('GET /api/v1/workers', (_, response) => {
    if (hub.seen.length === 1) response.destroy()
    else reply(response, 200, { workers: [] })
  })
  expect(await client.workers()).toEqual([])
  hub.on('POST /api/v1/jobs/:id/cancel', (_, response) => response.destroy())
  await expect(client.cancel('abcd')).rejects.toThrow('the connection broke')
  expect(hub.seen.filter(request => request.method === 'POST')).toHaveLength(1)
})

test('an answer in another form than this client knows names the place', async () => {
  hub.on('GET /api/v1/workers', (_, response) => reply(response, 200, { workers: 7 }))
  await expect(client.workers()).rejects.toThrow('workers differs')
})

test('one connection is kept for one request after the other', async () => {
  for (let i = 0; i < 5; i += 1) await client.jobs()
  expect(await hub.connections()).toBe(1)
})

test('a log arrives byte for byte; one that breaks off is an error, not a short log', async () => {
  const bytes = Buffer.from('a\n\n\x1b[31mröt\x1b[0m\n')
  hub.on('GET /api/v1/jobs/:id/logs', (request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
    if (request.query.get('follow') === 'true') response.write(bytes, () => response.destroy())
    else response.end(bytes)
  })
  expect(Buffer.concat(await collect(client.logs('abcd', { tail: 3, stream: 'stdout' })))).toEqual(bytes)
  expect(hub.seen[0]?.query.toString()).toBe('tail=3&stream=stdout')
  await expect(collect(client.logs('abcd', { follow: true }))).rejects.toBeInstanceOf(HubUnreachable)
})

test('a caller may bring its own fetch', async () => {
  const own = createClient({ url: hub.url, token: TEST_TOKEN, fetch: globalThis.fetch })
  const { id } = await own.submit({ command: ['true'] })
  expect((await own.job(id)).name).toBe('true')
})

test('cancel and retry answer what the hub did', async () => {
  const job = aJob({ state: 'canceled' })
  hub.on('POST /api/v1/jobs/:id/cancel', (_, response) => reply(response, 202, { effect: 'canceled', job: asJob(job) }))
  hub.on('POST /api/v1/jobs/:id/retry', (_, response) =>
    reply(response, 201, { jobs: [{ id: job.id, unschedulable: null }] }),
  )
  hub.on('DELETE /api/v1/tokens/:id', (_, response) => response.writeHead(204).end())
  expect((await client.cancel(job.id)).effect).toBe('canceled')
  expect((await client.retry(job.id)).id).toBe(job.id)
  expect(await client.revokeToken('t1')).toBeUndefined()
})

test('hold, release and a new priority answer the job as it is then', async () => {
  const job = aJob({ state: 'waiting' })
  for (const route of ['POST /api/v1/jobs/:id/hold', 'POST /api/v1/jobs/:id/release', 'PATCH /api/v1/jobs/:id'])
    hub.on(route, (_, response) => reply(response, 200, asJob(job)))
  expect((await client.hold(job.id)).state).toBe('waiting')
  expect((await client.release(job.id)).id).toBe(job.id)
  expect((await client.setPriority(job.id, 7)).id).toBe(job.id)
  expect(hub.seen.at(-1)).toMatchObject({ method: 'PATCH', body: '{"priority":7}' })
})

test('a submit that names other jobs does not travel with others, whose names it must not meet', async () => {
  const other = aJob().id
  await Promise.all([
    client.submit({ type: 'noop' }),
    client.submit({ type: 'noop', dependsOn: [other] }),
    client.submit({ type: 'noop' }),
  ])
  expect(hub.seen.map(({ body }) => body.includes('"jobs"') || body.includes(other))).toEqual([true, true])
})

async function collect(parts: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const list: Uint8Array[] = []
  for await (const part of parts) list.push(part)
  return list
}
