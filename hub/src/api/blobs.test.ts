import { sha256 } from '@stoker/files'
import { Refused } from '@stoker/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestHub, type TestHub } from './test-hub.ts'
import { bytesOf, put, putAndBreakOff } from './test-uploads.ts'

const MB = 1024 * 1024
let hub: TestHub
beforeAll(async () => {
  hub = await openTestHub()
})
afterAll(() => hub.close())

const at = (bytes: Uint8Array) => `/api/v1/blobs/${sha256(bytes)}`
const get = (bytes: Uint8Array, headers: Record<string, string> = {}) => hub.call('GET', at(bytes), { headers })

test('content sent whole can be looked for and read, and a second upload of it costs nothing', async () => {
  const bytes = bytesOf(200_000)
  const before = await hub.call('HEAD', at(bytes))
  expect([before.status, before.headers.get('upload-offset')]).toEqual([404, '0'])
  expect(await put(hub, bytes)).toMatchObject({ status: 201, json: { sha256: sha256(bytes), size: 200_000 } })
  const head = await hub.call('HEAD', at(bytes))
  expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
    200,
    '200000',
    `"${sha256(bytes)}"`,
  ])
  const read = await fetch(hub.url + at(bytes), { headers: { authorization: `Bearer ${hub.admin}` } })
  expect(Buffer.from(await read.arrayBuffer()).equals(bytes)).toBe(true)
  expect(read.headers.get('content-type')).toBe('application/octet-stream')
  expect(read.headers.get('content-disposition')).toContain('attachment')
  expect(await put(hub, bytes)).toMatchObject({ status: 201, json: { size: 200_000 } })
  expect(hub.blobs.bytesOf('ada')).toBeGreaterThanOrEqual(200_000)
})

test('empty content is content', async () => {
  const nothing = Buffer.alloc(0)
  expect((await put(hub, nothing)).status).toBe(201)
  const read = await get(nothing)
  expect([read.status, read.text, read.headers.get('content-length')]).toEqual([200, '', '0'])
  expect((await get(nothing, { range: 'bytes=0-0' })).status).toBe(416)
})

test('pieces make a whole; one that begins elsewhere is told where to go on', async () => {
  const bytes = bytesOf(1000, 2)
  const name = sha256(bytes)
  const piece = (first: number, last: number) =>
    put(hub, bytes.subarray(first, last), { name, piece: { first, size: 1000 } })
  expect(await piece(0, 300)).toMatchObject({ status: 202, json: { offset: 300 } })
  for (const first of [0, 299, 301]) {
    const wrong = await piece(first, first + 100)
    expect(wrong).toMatchObject({ status: 409, json: { code: 'upload.offset' } })
    expect(wrong.headers.get('upload-offset')).toBe('300')
  }
  expect((await hub.call('HEAD', at(bytes))).headers.get('upload-offset')).toBe('300')
  expect((await put(hub, bytes)).status).toBe(409)
  expect((await get(bytes)).json).toMatchObject({ status: 404, code: 'blob.not_found' })
  expect((await piece(300, 999)).json).toEqual({ offset: 999 })
  expect(await piece(999, 1000)).toMatchObject({ status: 201, json: { sha256: name, size: 1000 } })
  expect((await get(bytes)).status).toBe(200)
})

test('content that is not what its name says leaves nothing', async () => {
  const name = sha256('something else')
  const wrong = await put(hub, bytesOf(500), { name })
  expect(wrong.json).toMatchObject({ status: 422, code: 'upload.hash' })
  expect(wrong.json.detail).toContain(sha256(bytesOf(500)))
  expect((await hub.call('HEAD', `/api/v1/blobs/${name}`)).headers.get('upload-offset')).toBe('0')
})

test('a connection that breaks off leaves what came, and the upload goes on there', async () => {
  const bytes = Buffer.alloc(12 * MB, 'stoker')
  const stored = async () => Number((await hub.call('HEAD', at(bytes))).headers.get('upload-offset'))
  await putAndBreakOff(hub, bytes, 9 * MB, async () => {
    while ((await stored()) === 0);
  })
  const told = await put(hub, bytes)
  expect(told.status).toBe(409)
  const first = Number(told.headers.get('upload-offset'))
  expect(first).toBeGreaterThanOrEqual(8 * MB)
  expect(first).toBeLessThanOrEqual(9 * MB)
  const rest = await put(hub, bytes.subarray(first), { name: sha256(bytes), piece: { first, size: bytes.length } })
  expect(rest.status).toBe(201)
})

test('many senders of one content at once all succeed or are told where to go on', async () => {
  const bytes = bytesOf(300_000, 4)
  const answers = await Promise.all(Array.from({ length: 8 }, () => put(hub, bytes)))
  expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(201))
  expect(sha256(Buffer.from(await (await fetch(hub.url + at(bytes), auth())).arrayBuffer()))).toBe(sha256(bytes))
})

test('ranges, tags and conditions are kept to', async () => {
  const bytes = Buffer.from('0123456789')
  await put(hub, bytes)
  const tag = `"${sha256(bytes)}"`
  const cases: [Record<string, string>, number, string, string | null][] = [
    [{ range: 'bytes=0-3' }, 206, '0123', 'bytes 0-3/10'],
    [{ range: 'bytes=4-' }, 206, '456789', 'bytes 4-9/10'],
    [{ range: 'bytes=-2' }, 206, '89', 'bytes 8-9/10'],
    [{ range: 'bytes=8-99' }, 206, '89', 'bytes 8-9/10'],
    [{ range: 'bytes=0-3', 'if-range': tag }, 206, '0123', 'bytes 0-3/10'],
    [{ range: 'bytes=0-3', 'if-range': '"other"' }, 200, '0123456789', null],
    [{ range: 'bytes=0-1,3-4' }, 200, '0123456789', null],
    [{ range: 'bytes=3-1' }, 200, '0123456789', null],
    [{ range: 'lines=1-2' }, 200, '0123456789', null],
    [{ 'if-none-match': `"x", W/${tag}` }, 304, '', null],
    [{ 'if-none-match': '"x"' }, 200, '0123456789', null],
  ]
  for (const [headers, status, text, range] of cases) {
    const got = await get(bytes, headers)
    expect([headers, got.status, got.text, got.headers.get('content-range')]).toEqual([headers, status, text, range])
  }
  const outside = await get(bytes, { range: 'bytes=10-' })
  expect([outside.json.code, outside.headers.get('content-range')]).toEqual(['range.unsatisfiable', 'bytes */10'])
})

test('what one owner has is not there for another, who may have it too', async () => {
  const bytes = bytesOf(100, 5)
  await put(hub, bytes)
  const token = await hub.token('submit', 'eve')
  expect((await hub.call('GET', at(bytes), { token })).status).toBe(404)
  expect((await hub.call('HEAD', at(bytes), { token })).headers.get('upload-offset')).toBe('0')
  expect((await put(hub, bytes, { headers: { authorization: `Bearer ${token}` } })).status).toBe(201)
  expect(hub.blobs.bytesOf('eve')).toBe(100)
})

test('bad uploads are refused with what is wrong', async () => {
  const bytes = bytesOf(10)
  const name = sha256(bytes)
  const refused = async (headers: Record<string, string>) => (await put(hub, bytes, { headers, name })).json
  expect(await refused({ 'content-range': 'bytes 0-9/9' })).toMatchObject({ code: 'request.invalid' })
  expect(await refused({ 'content-range': 'bytes 0-19/100' })).toMatchObject({ detail: expect.stringContaining('20') })
  expect(await refused({ 'content-range': 'nonsense' })).toMatchObject({ code: 'request.invalid' })
  expect(await refused({ 'content-range': 'bytes 0-9/999999999999999' })).toMatchObject({
    status: 413,
    detail: expect.stringContaining('999999999999999'),
  })
  expect(await refused({ 'content-encoding': 'gzip' })).toMatchObject({ status: 415 })
  expect(await refused({ 'content-type': 'text/plain' })).toMatchObject({ status: 415 })
  expect(await refused({ authorization: `Bearer ${await hub.token('read', 'ada')}` })).toMatchObject({ status: 403 })
  expect(await refused({ authorization: 'Worker x:y' })).toMatchObject({ status: 401 })
  expect((await put(hub, bytes, { name: name.toUpperCase() })).json).toMatchObject({ status: 400 })
  expect((await hub.call('HEAD', at(bytes))).headers.get('upload-offset')).toBe('0')
})

test('a disk without room takes nothing and says both numbers', async () => {
  const full = await openTestHub({}, async bytes => {
    throw new Refused('disk.full', `the disk has 1 MB free, this content needs ${bytes}`)
  })
  try {
    const bytes = bytesOf(100)
    expect((await put(full, bytes)).json).toMatchObject({ status: 507, detail: expect.stringContaining('100') })
    expect((await full.call('HEAD', at(bytes))).headers.get('upload-offset')).toBe('0')
  } finally {
    await full.close()
  }
})

const auth = () => ({ headers: { authorization: `Bearer ${hub.admin}` } })
