import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestHub, type TestHub } from './test-hub.ts'

let hub: TestHub
let anna: string
let bob: string
beforeAll(async () => {
  hub = await openTestHub()
  anna = await hub.token('submit', 'anna')
  bob = await hub.token('submit', 'bob')
})
afterAll(() => hub.close())

const put = (name: string, body: unknown, token: string, query = '') =>
  hub.call('PUT', `/api/v1/secrets/${name}${query}`, { body, token })
const list = async (token: string, query = '') => (await hub.call('GET', `/api/v1/secrets${query}`, { token })).json

test('a secret belongs to an owner, is told by name and size, and its value never comes back', async () => {
  const set = await put('HF_TOKEN', { value: 'correct-horse' }, anna)
  expect(set).toMatchObject({ status: 200, json: { name: 'HF_TOKEN', owner: 'anna', bytes: 13 } })
  const again = await put('HF_TOKEN', { value: Buffer.from([0, 255, 7]).toString('base64'), encoding: 'base64' }, anna)
  expect(again.json).toMatchObject({ bytes: 3, createdAt: set.json.createdAt })
  expect(again.json.changedAt > set.json.changedAt).toBe(true)
  expect((await list(anna)).secrets).toEqual([again.json])
  expect((await list(bob)).secrets).toEqual([])
  expect((await list(hub.admin, '?owner=anna')).secrets).toEqual([again.json])
  expect(JSON.stringify(await hub.store.queries.journalAfter(0, 1000))).not.toMatch(/correct-horse|Y29ycmVjdC1ob3JzZQ/)
})

test('an admin may set and remove for another owner, and nobody else', async () => {
  expect((await put('K', { value: 'v' }, hub.admin, '?owner=bob')).json).toMatchObject({ owner: 'bob' })
  expect((await put('K', { value: 'v' }, anna, '?owner=bob')).json.code).toBe('auth.forbidden')
  expect((await hub.call('DELETE', '/api/v1/secrets/K?owner=bob', { token: anna })).json.code).toBe('auth.forbidden')
  expect((await hub.call('DELETE', '/api/v1/secrets/K?owner=bob')).status).toBe(204)
  expect((await hub.call('DELETE', '/api/v1/secrets/K?owner=bob')).json.code).toBe('secret.not_found')
})

test.each([
  ['a name that is no name', '1KEY', { value: 'v' }, 'request.invalid'],
  ['a name that is a path', '..%2Fx', { value: 'v' }, 'request.invalid'],
  ['no value', 'K', {}, 'request.invalid'],
  ['an empty value', 'K', { value: '' }, 'request.invalid'],
  ['a value that is no text', 'K', { value: 7 }, 'request.invalid'],
  ['base64 that is none', 'K', { value: 'not base64!', encoding: 'base64' }, 'request.invalid'],
  ['another key', 'K', { value: 'v', plain: true }, 'request.invalid'],
  ['too much', 'K', { value: 'x'.repeat(32 * 1024 + 1) }, 'request.too_large'],
  ['far too much', 'K', { value: 'x'.repeat(70_000) }, 'request.too_large'],
])('%s is refused', async (_what, name, body, code) => {
  expect((await put(name, body, anna)).json.code).toBe(code)
})

test('a list goes on page by page', async () => {
  const token = await hub.token('submit', 'paula')
  for (const name of ['C', 'A', 'B']) await put(name, { value: 'v' }, token)
  const first = await list(token, '?limit=2')
  expect(first.secrets.map((one: { name: string }) => one.name)).toEqual(['A', 'B'])
  const second = await list(token, `?limit=2&cursor=${first.next}`)
  expect(second).toMatchObject({ secrets: [{ name: 'C' }], next: null })
})

test('a job may name secrets its owner has; any other is refused with its place', async () => {
  const submit = (body: object, token: string) => hub.call('POST', '/api/v1/jobs', { body, token })
  const spec = { command: 'true', secrets: ['HF_TOKEN', { name: 'OTHER', env: 'OTHER' }] }
  await put('OTHER', { value: 'v' }, anna)
  expect((await submit(spec, anna)).status).toBe(201)
  const refused = await submit({ jobs: [{ command: 'true' }, spec] }, bob)
  expect(refused.json).toMatchObject({ status: 400, code: 'spec.invalid' })
  expect(refused.json.errors.map((error: { path: string }) => error.path)).toEqual([
    'jobs[1].secrets[0]',
    'jobs[1].secrets[1]',
  ])
  for (const secrets of [['1'], [{ name: 'HF_TOKEN', env: 'A B' }], ['HF_TOKEN', 'HF_TOKEN'], 'HF_TOKEN'])
    expect((await submit({ command: 'true', secrets }, anna)).json.code).toBe('spec.invalid')
  expect((await submit({ type: 'noop', secrets: ['HF_TOKEN'] }, anna)).json.detail).toContain('starts no program')
  const twice = { command: 'true', env: { A: 'b' }, secrets: [{ name: 'HF_TOKEN', env: 'A' }] }
  expect((await submit(twice, anna)).json.errors[0].path).toBe('secrets[0].env')
})
