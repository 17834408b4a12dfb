import { Agent, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { Problem } from '@stoker/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestDocument } from './test-document.ts'
import { until } from './test-events.ts'
import { openTestHub, type TestHub } from './test-hub.ts'
import { oddEncoded, oddHeaders, oddJson, oddSpec, oddText } from './test-oddities.ts'

let hub: TestHub
let document: TestDocument
const agent = new Agent({ keepAlive: true, maxSockets: 4 })
beforeAll(async () => {
  hub = await openTestHub()
  document = await TestDocument.read(hub)
  await hub.call('POST', '/api/v1/jobs', { body: { jobs: Array(30).fill({ type: 'noop' }) } })
})
afterAll(async () => {
  agent.destroy()
  await until(() => hub.watching().outputs === 0 && hub.watching().commits === 0)
  await hub.close()
})

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
}

interface Got {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** A stream that begins well is left at once. */
function send({ method, path, headers, body }: Sent): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = request(hub.url, { method, path, headers, agent }, (reply: IncomingMessage) => {
      const status = reply.statusCode ?? 0
      const type = reply.headers['content-type'] ?? ''
      if (type.startsWith('text/event-stream')) {
        sent.destroy()
        resolve({ status, type, text: '' })
        return
      }
      let text = ''
      reply.setEncoding('utf8')
      reply.on('data', part => {
        text += part
      })
      reply.on('end', () => resolve({ status, type, text }))
      reply.on('error', reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

function expectNoFault(what: unknown, { status, type, text }: Got, method = ''): void {
  const told = `${JSON.stringify(what).slice(0, 500)} was answered ${status} ${text.slice(0, 300)}`
  expect(status, told).toBeGreaterThanOrEqual(200)
  expect(status, told).toBeLessThan(500)
  if (status < 400) return
  expect(type, told).toBe('application/problem+json; charset=utf-8')
  if (method === 'HEAD') return
  expect(Problem.parse(JSON.parse(text)).status, told).toBe(status)
}

test('whatever is sent to any documented route, the answer is never a fault of the hub', async () => {
  const routes = document.operations.map(each => each.split(' ') as [string, string])
  const sent = fc
    .tuple(
      fc.constantFrom(...routes),
      fc.array(oddEncoded, { minLength: 3, maxLength: 3 }),
      fc.array(fc.tuple(oddEncoded, oddEncoded), { maxLength: 3 }),
      fc.oneof(oddJson, oddSpec, oddText),
      oddHeaders,
      fc.boolean(),
    )
    .map(([[method, template], params, odd, body, headers, isKnown]): Sent => {
      const path = template.replaceAll(/\{[^}]+\}/g, () => params.pop() ?? 'x')
      const known = document.paths[template]?.[method]?.parameters?.filter(p => p.in === 'query').map(p => p.name) ?? []
      const query = odd
        .map(([key, value], i) => `${isKnown ? (known[i % known.length] ?? key) : key}=${value}`)
        .join('&')
      const hasBody = method !== 'get' && method !== 'head'
      return {
        method: method.toUpperCase(),
        path: query === '' ? path : `${path}?${query}`,
        headers: {
          authorization: `Bearer ${hub.admin}`,
          ...(hasBody ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        body: hasBody ? body : '',
      }
    })
  await fc.assert(
    fc.asyncProperty(sent, async what => expectNoFault(what, await send(what), what.method)),
    { numRuns: 1500 },
  )
})

test('methods a route does not have are refused by name, unknown paths and methods as such', async () => {
  const headers = { authorization: `Bearer ${hub.admin}`, 'content-type': 'application/json' }
  for (const template of [
    ...Object.keys(document.paths),
    '/openapi.json',
    '/docs/',
    '/nowhere',
    '/',
    '//',
    '/api/v1/jobs/',
  ]) {
    const path = template.replaceAll(/\{[^}]+\}/g, 'abcd')
    for (const method of [
      'HEAD',
      'OPTIONS',
      'PUT',
      'PATCH',
      'DELETE',
      'POST',
      'TRACE',
      'PROPFIND',
      'REPORT',
      'QUERY',
    ]) {
      if (path.endsWith('/jobs') && method === 'POST') continue
      const got = await send({ method, path, headers, body: method === 'HEAD' ? '' : '{' })
      expectNoFault([method, path], got, method)
      const paths = document.paths[template]
      if (method === 'PUT' && paths !== undefined && !('put' in paths)) expect(got.status).toBe(405)
    }
  }
})

test('what is hardly HTTP gets a problem too', async () => {
  const raw = [
    'NONSENSE\r\n\r\n',
    'GET\r\n\r\n',
    'FOO /health HTTP/1.1\r\nhost: x\r\n\r\n',
    'GET /health HTTP/9.9\r\nhost: x\r\n\r\n',
    'GET /health HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n',
    `GET /health HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(20_000)}\r\n\r\n`,
    'POST /api/v1/jobs HTTP/1.1\r\nhost: x\r\ncontent-length: abc\r\n\r\n',
    'POST /api/v1/jobs HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
  ]
  for (const text of raw) {
    const reply = await exchange(text)
    const [head = '', body = ''] = reply.split('\r\n\r\n')
    expect(head, text.slice(0, 60)).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(head.toLowerCase()).toContain('content-type: application/problem+json')
    Problem.parse(JSON.parse(body))
  }
  expect(await exchange('GET /health HTTP/1.1\r\nconnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
  for (const host of ['[', '', '%', 'a:b:c', '..', '\x7f']) {
    for (const path of ['/docs', '/docs/', '/health', 'http://[/health', '*']) {
      const reply = await exchange(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`)
      expect(reply, `${host} ${path}`).toMatch(/^HTTP\/1\.1 [234]\d\d /)
    }
  }
})

test('a body nested too deep to be read is refused everywhere', async () => {
  const deep = `{"type":"echo","role":"read","input":${'{"a":'.repeat(8000)}1${'}'.repeat(8001)}`
  for (const path of ['/api/v1/jobs', '/api/v1/tokens', '/api/v1/jobs/abcd/cancel']) {
    const { json } = await hub.call('POST', path, { body: deep })
    expect(json, path).toMatchObject({
      status: 400,
      code: 'request.invalid',
      detail: expect.stringContaining('64 levels'),
    })
  }
})

test('a body sent in pieces without a length is held to the same limits', async () => {
  const headers = {
    authorization: `Bearer ${hub.admin}`,
    'content-type': 'application/json',
    'transfer-encoding': 'chunked',
  }
  const large = JSON.stringify({ type: 'echo', input: { text: 'x'.repeat(300_000) } })
  const got = await send({ method: 'POST', path: '/api/v1/jobs', headers, body: large })
  expect([got.status, JSON.parse(got.text).code]).toEqual([413, 'request.too_large'])
  const token = await send({ method: 'POST', path: '/api/v1/tokens', headers, body: `"${'x'.repeat(70_000)}"` })
  expect([token.status, JSON.parse(token.text).code]).toEqual([413, 'request.too_large'])
})

/** Sends raw bytes and reads until the hub closes the connection. */
function exchange(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(hub.url)
    const socket = connect(Number(port), hostname, () => socket.write(text))
    let reply = ''
    socket.setEncoding('utf8')
    socket.on('data', part => {
      reply += part
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(reply))
    socket.on('end', () => socket.end())
  })
}
