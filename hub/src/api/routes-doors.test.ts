import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestDocument } from './test-document.ts'
import { openTestHub, type TestHub } from './test-hub.ts'

/** What opens the hub to others, or tells others of it. */
const HERE = /^\w+ \/api\/v1\/(me|tokens|listeners|webhooks)\b/

let hub: TestHub
let document: TestDocument
beforeAll(async () => {
  hub = await openTestHub()
  document = await TestDocument.read(hub)
})
afterAll(async () => {
  await hub.close()
  expect([...document.checked]).toEqual(expect.arrayContaining(document.operations.filter(one => HERE.test(one))))
})

test('a token works until it is revoked or expires, and only in its right form', async () => {
  const made = await document.call('POST', '/api/v1/tokens', {
    body: { role: 'submit', owner: 'tess', label: 'ci', expiresInSeconds: 60 },
  })
  const { secret, id } = made.json
  expect(made.status).toBe(201)
  expect(secret).toMatch(/^stk_[A-Za-z0-9_-]{43}$/)
  expect((await document.call('GET', '/api/v1/me', { token: secret })).json).toEqual({
    owner: 'tess',
    role: 'submit',
    tokenId: id,
  })
  const list = await document.call('GET', '/api/v1/tokens')
  expect(list.json.tokens.find((t: { id: string }) => t.id === id)).toMatchObject({
    role: 'submit',
    owner: 'tess',
    label: 'ci',
  })
  expect(list.text).not.toContain(secret)
  expect((await document.call('DELETE', `/api/v1/tokens/${id}`)).status).toBe(204)
  const me = (headers: Record<string, string>) => document.call('GET', '/api/v1/me', { token: null, headers })
  expect((await me({ authorization: `Bearer ${secret}` })).json).toMatchObject({ status: 401, code: 'auth.invalid' })
  expect((await me({})).json.code).toBe('auth.missing')
  expect((await me({})).headers.get('www-authenticate')).toBe('Bearer')
  expect((await me({ authorization: `bearer  ${hub.admin}` })).status).toBe(200)
  for (const authorization of ['Basic abc', 'Bearer', `Bearer ${hub.admin}x`, `Bearer ${'x'.repeat(1000)}`])
    expect((await me({ authorization })).json.code, authorization).toBe('auth.invalid')
  const old = await hub.token('submit', 'tess', Date.now() - 1)
  expect((await me({ authorization: `Bearer ${old}` })).json.detail).toMatch(/expired at/)
  const join = await hub.token('join', 'tess')
  expect((await me({ authorization: `Bearer ${join}` })).json.code).toBe('auth.forbidden')
  expect((await document.call('DELETE', `/api/v1/tokens/${id}`)).json.code).toBe('token.not_found')
  for (const body of [{}, { role: 'root' }, { role: 'read', owner: 'NO' }, { role: 'read', extra: 1 }, '', 7])
    expect((await document.call('POST', '/api/v1/tokens', { body })).json.code).toBe('request.invalid')
})

test('an admin opens, lists and closes listeners', async () => {
  const opened = await document.call('POST', '/api/v1/listeners', { body: { url: 'https://127.0.0.1:0' } })
  expect(opened).toMatchObject({ status: 201, json: { remembered: true, selfSigned: true, error: null } })
  const { name } = opened.json
  const listed = (await document.call('GET', '/api/v1/listeners')).json
  expect(listed.listeners.map((one: { url: string }) => one.url)).toEqual([hub.url, `https://${name}`])
  expect((await document.call('DELETE', `/api/v1/listeners/${encodeURIComponent(name)}`)).status).toBe(204)
  for (const [body, code] of [
    [{ url: 'http://0.0.0.0:0' }, 'listener.unusable'],
    [{ url: 'nonsense' }, 'request.invalid'],
    [{}, 'request.invalid'],
  ] as const)
    expect((await document.call('POST', '/api/v1/listeners', { body })).json.code).toBe(code)
  const first = encodeURIComponent(new URL(hub.url).host)
  expect((await document.call('DELETE', `/api/v1/listeners/${first}`)).json.code).toBe('listener.fixed')
  expect((await document.call('DELETE', '/api/v1/listeners/1.2.3.4:5')).json.code).toBe('listener.not_found')
  const token = await hub.token('submit', 'mia')
  expect((await document.call('GET', '/api/v1/listeners', { token })).json.code).toBe('auth.forbidden')
})

test('the routes of webhooks answer as the document says', async () => {
  const { json } = await document.call('POST', '/api/v1/webhooks', { body: { url: 'https://example.org/' } })
  await document.call('GET', '/api/v1/webhooks')
  await document.call('GET', `/api/v1/webhooks/${json.id}`)
  await document.call('POST', `/api/v1/webhooks/${json.id}/ping`)
  expect((await document.call('DELETE', `/api/v1/webhooks/${json.id}`)).status).toBe(204)
})
