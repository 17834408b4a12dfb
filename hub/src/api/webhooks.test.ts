import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import { text } from 'node:stream/consumers'
import { CreatedWebhook, WebhookBody } from '@stoker/protocol'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { openTestHub, type TestHub } from './test-hub.ts'
import { TestWorker } from './test-worker.ts'

interface Told {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: WebhookBody
}

let hub: TestHub
let target: Server
let url: string
let told: Told[]
let status: number
let worker: TestWorker | null
beforeEach(async () => {
  hub = await openTestHub()
  told = []
  status = 200
  worker = null
  target = createServer(async (request, response) => {
    const content = await text(request)
    told.push({ headers: request.headers, text: content, body: WebhookBody.parse(JSON.parse(content)) })
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(target, 'listening')
  const address = target.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/hook?x=1`
})
afterEach(async () => {
  await hub.close()
  target.close()
  await once(target, 'close')
})

async function add(body: object, token?: string): Promise<CreatedWebhook> {
  const { json } = await hub.call('POST', '/api/v1/webhooks', { body: { url, ...body }, token })
  return CreatedWebhook.parse(json)
}

async function endedJob(spec: object = {}, exitCode = 0): Promise<string> {
  const { json } = await hub.call('POST', '/api/v1/jobs', { body: { command: 'x', ...spec } })
  worker ??= await TestWorker.join(hub)
  const fence = await worker.placed(json.jobs[0].id)
  await worker.ended(
    fence,
    exitCode === 0 ? {} : { outcome: 'failed', exitCode, error: `exited with code ${exitCode}` },
  )
  return json.jobs[0].id
}

const SOON = { timeout: 15_000 }
const tells = (n: number) => vi.waitFor(() => expect(told).toHaveLength(n), SOON)

test('the end of a job is told once, signed so that the receiver can check it', async () => {
  const { secret, id } = await add({})
  const job = await endedJob({ name: 'first' })
  await tells(1)
  const [first] = told
  expect(first?.body).toMatchObject({
    type: 'job.ended',
    data: { job: { id: job, name: 'first', state: 'succeeded' } },
  })
  const { 'webhook-id': messageId, 'webhook-timestamp': at, 'webhook-signature': signature } = first?.headers ?? {}
  expect(messageId).toBe(`${id}.${job}`)
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const expected = createHmac('sha256', key).update(`${messageId}.${at}.${first?.text}`).digest('base64')
  expect(signature).toBe(`v1,${expected}`)
  const detail = await vi.waitFor(async () => {
    const { json } = await hub.call('GET', `/api/v1/webhooks/${id}`)
    expect(json.deliveries).toMatchObject([{ job, state: 'delivered', tries: 1, status: 200 }])
    return json
  }, SOON)
  expect(JSON.stringify(detail)).not.toContain(secret)
})

test('only the ends and labels that were asked for are told, and only to their owner', async () => {
  await add({ on: ['failed'], labels: { team: 'vision' } })
  await add({ on: ['failed'] }, await hub.token('submit', 'bob'))
  await endedJob({ labels: { team: 'vision' } })
  await endedJob({ labels: { team: 'speech' } }, 3)
  const job = await endedJob({ labels: { team: 'vision', x: 'y' } }, 3)
  await tells(1)
  expect(told[0]?.body.data.job).toMatchObject({ id: job, state: 'failed', exitCode: 3 })
})

test('a canceled job is told too, a target that answers badly keeps its place in the list with the reason', async () => {
  status = 500
  const { id } = await add({})
  const { json } = await hub.call('POST', '/api/v1/jobs', { body: { command: 'x' } })
  await hub.call('POST', `/api/v1/jobs/${json.jobs[0].id}/cancel`)
  await vi.waitFor(async () => {
    const shown = await hub.call('GET', `/api/v1/webhooks/${id}`)
    expect(shown.json.deliveries).toMatchObject([
      { state: 'pending', tries: 1, status: 500, error: 'a 2xx answer is needed, the target gave 500' },
    ])
    expect(shown.json.deliveries[0].nextTryAt).not.toBeNull()
  }, SOON)
})

test('a ping says at once whether the target can be reached', async () => {
  const { id } = await add({})
  expect((await hub.call('POST', `/api/v1/webhooks/${id}/ping`)).json).toEqual({
    delivered: true,
    status: 200,
    error: null,
  })
  expect(told[0]?.body).toMatchObject({ type: 'ping', data: { job: null } })
  const nowhere = await add({ url: 'http://hooks.invalid/x' })
  const ping = await hub.call('POST', `/api/v1/webhooks/${nowhere.id}/ping`)
  expect(ping.json).toMatchObject({ delivered: false, status: null })
  expect(ping.json.error).toMatch(/the URL names hooks\.invalid, which has no address/)
})

test.each([
  ['http://10.1.2.3/x', '10.1.2.3 is private'],
  ['http://[::1]:8080/x', '::1 is loopback'],
  ['http://localhost/x', 'localhost is loopback'],
  ['https://a.localhost/x', 'a.localhost is loopback'],
  ['http://localhost./x', 'localhost. is loopback'],
  ['http://0x7f.2/x', '127.0.0.2 is loopback'],
  ['http://169.254.169.254/latest', '169.254.169.254 is link-local'],
])('an address that would never be posted to is refused at once: %s', async (target, fact) => {
  const { status, json } = await hub.call('POST', '/api/v1/webhooks', { body: { url: target } })
  expect([status, json.code]).toEqual([400, 'request.invalid'])
  expect(json.detail).toContain(`url: ${fact}, and only public addresses are posted to`)
  expect((await hub.call('GET', '/api/v1/webhooks')).json.webhooks).toEqual([])
})

test('a webhook is seen, changed and removed by its owner and by admins only', async () => {
  const bob = await hub.token('submit', 'bob')
  const carol = await hub.token('submit', 'carol')
  const reader = await hub.token('read', 'bob')
  const { id } = await add({}, bob)
  expect((await hub.call('GET', '/api/v1/webhooks', { token: bob })).json.webhooks).toHaveLength(1)
  expect((await hub.call('GET', '/api/v1/webhooks', { token: carol })).json.webhooks).toEqual([])
  expect((await hub.call('GET', '/api/v1/webhooks')).json.webhooks).toHaveLength(1)
  for (const method of ['GET', 'DELETE'])
    expect((await hub.call(method, `/api/v1/webhooks/${id}`, { token: carol })).status).toBe(404)
  expect((await hub.call('DELETE', `/api/v1/webhooks/${id}`, { token: reader })).status).toBe(403)
  expect((await hub.call('DELETE', `/api/v1/webhooks/${id}`, { token: bob })).status).toBe(204)
  expect((await hub.call('GET', `/api/v1/webhooks/${id}`)).status).toBe(404)
})

test.each([
  [{ url: 'ftp://example.org/' }, 'url'],
  [{ url: 'https://user:pass@example.org/' }, 'url'],
  [{ url: 'nowhere' }, 'url'],
  [{ url: 'https://example.org/', on: ['running'] }, 'on[0]'],
  [{ url: 'https://example.org/', on: [] }, 'on'],
  [{ url: 'https://example.org/', when: 'x' }, 'when'],
])('%j is refused at %s', async (body, path) => {
  const { status: code, json } = await hub.call('POST', '/api/v1/webhooks', { body })
  expect(code).toBe(400)
  expect(JSON.stringify(json)).toContain(path)
})

test('an owner has a bounded number of webhooks', async () => {
  for (let n = 0; n < 20; n++) await add({})
  const { status: code, json } = await hub.call('POST', '/api/v1/webhooks', { body: { url } })
  expect(code).toBe(409)
  expect(json.detail).toBe('ada has 20 webhooks, at most 20 are kept')
})
