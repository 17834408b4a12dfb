import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sha256 } from '@stoker/files'
import { type ArtifactEntry, ArtifactPage, type Fence } from '@stoker/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTestHub, type TestHub } from './test-hub.ts'
import { bytesOf, put } from './test-uploads.ts'
import { TestWorker } from './test-worker.ts'

let hub: TestHub
let worker: TestWorker
beforeAll(async () => {
  hub = await openTestHub()
  worker = await TestWorker.join(hub, { maxJobs: 100, window: 100, cpus: 100 })
})
afterAll(() => hub.close())

async function start(spec: object = {}): Promise<{ id: string; fence: Fence }> {
  const body = { command: 'true', placement: { worker: worker.id }, ...spec }
  const { json, status } = await hub.call('POST', '/api/v1/jobs', { body })
  expect(status, JSON.stringify(json)).toBe(201)
  const { id } = json.jobs[0]
  const fence = await worker.placed(id)
  await worker.running(fence)
  return { id, fence }
}

const headers = () => ({ authorization: `Worker ${worker.id}:${worker.secret}` })
const place = (fence: Fence, name: string) =>
  `/api/v1/attempts/${fence.job}-${fence.epoch}-${fence.attempt}/blobs/${name}`
const upload = (fence: Fence, bytes: Buffer) =>
  put(hub, bytes, { path: place(fence, sha256(bytes)), headers: headers() })

async function leave(fence: Fence, files: Readonly<Record<string, Buffer>>): Promise<ArtifactEntry[]> {
  const entries = Object.entries(files).map(([path, bytes]) => ({
    path,
    sha256: sha256(bytes),
    size: bytes.length,
    executable: path.endsWith('.sh'),
  }))
  for (const bytes of Object.values(files)) expect((await upload(fence, bytes)).status).toBe(201)
  return entries
}

test('what an attempt left is listed, read one by one with its type, and as one archive', async () => {
  const { id, fence } = await start()
  const long = `${'deep/'.repeat(40)}naïve ☃.txt`
  const files = {
    'out/page.html': Buffer.from('<script>'),
    'out/a.txt': Buffer.from('hello'),
    'run.sh': Buffer.from('#!/bin/sh'),
    [long]: bytesOf(3000),
    'empty.bin': Buffer.alloc(0),
  }
  await worker.ended(fence, { artifacts: await leave(fence, files) })
  const page = ArtifactPage.parse((await hub.call('GET', `/api/v1/jobs/${id}/artifacts`)).json)
  expect(page.artifacts.map(({ path }) => path)).toEqual(Object.keys(files).sort())
  expect(page.bytes).toBe(Object.values(files).reduce((sum, { length }) => sum + length, 0))
  expect(page.artifacts.find(({ path }) => path === 'run.sh')).toMatchObject({ type: 'text/plain', executable: true })
  expect(page).not.toHaveProperty('next')

  const read = (path: string, of = {}) =>
    hub.call('GET', `/api/v1/jobs/${id}/artifacts/${path.split('/').map(encodeURIComponent).join('/')}`, of)
  const text = await read('out/a.txt', { headers: { range: 'bytes=1-3' } })
  expect([text.status, text.text, text.type]).toEqual([206, 'ell', 'text/plain; charset=utf-8'])
  const html = await read('out/page.html')
  expect(html.headers.get('content-disposition')).toBe("attachment; filename*=UTF-8''page.html")
  expect(html.headers.get('x-content-type-options')).toBe('nosniff')
  expect((await read(long)).status).toBe(200)
  const head = await hub.call('HEAD', `/api/v1/jobs/${id}/artifacts/out/a.txt`)
  expect([head.status, head.headers.get('content-length'), head.text]).toEqual([200, '5', ''])
  for (const path of ['nothing', '', '../out/a.txt', 'out', '%00'])
    expect((await read(path)).status, path).toBeGreaterThanOrEqual(400)
  expect((await read('nothing')).json).toMatchObject({ status: 404, code: 'artifact.not_found' })

  await expectArchive(id, files)
})

async function expectArchive(id: string, files: Readonly<Record<string, Buffer>>): Promise<void> {
  const reply = await fetch(`${hub.url}/api/v1/jobs/${id}/artifacts.tar`, {
    headers: { authorization: `Bearer ${hub.admin}` },
  })
  const archive = Buffer.from(await reply.arrayBuffer())
  expect(reply.headers.get('content-length')).toBe(String(archive.length))
  const folder = mkdtempSync(join(tmpdir(), 'stoker-tar-'))
  try {
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    for (const [path, bytes] of Object.entries(files)) expect(readFileSync(join(folder, path)).equals(bytes)).toBe(true)
    expect(statSync(join(folder, 'run.sh')).mode & 0o111).not.toBe(0)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a long list comes in pages', async () => {
  const { id, fence } = await start()
  const bytes = Buffer.from('x')
  await upload(fence, bytes)
  const artifacts = Array.from({ length: 25 }, (_, i) => ({
    path: `f${String(i).padStart(3, '0')}`,
    sha256: sha256(bytes),
    size: 1,
    executable: false,
  }))
  await worker.ended(fence, { artifacts })
  const seen: string[] = []
  for (let cursor = ''; ; ) {
    const { json } = await hub.call('GET', `/api/v1/jobs/${id}/artifacts?limit=10${cursor}`)
    seen.push(...ArtifactPage.parse(json).artifacts.map(({ path }) => path))
    expect(json.bytes).toBe(25)
    if (json.next === undefined) break
    cursor = `&cursor=${json.next}`
  }
  expect(seen).toEqual(artifacts.map(({ path }) => path))
  expect((await hub.call('GET', `/api/v1/jobs/${id}/artifacts?cursor=x`)).status).toBe(400)
  expect((await hub.call('GET', `/api/v1/jobs/${id}/artifacts?attempt=2`)).status).toBe(400)
})

test('an end that names content the hub does not have fails with the reason and publishes nothing', async () => {
  const { id, fence } = await start()
  const [entry] = await leave(fence, { 'a.txt': Buffer.from('here') })
  const lost = { path: 'b.txt', sha256: sha256('never sent'), size: 10, executable: false }
  await worker.ended(fence, { artifacts: [...(entry === undefined ? [] : [entry]), lost], result: { good: true } })
  const { json } = await hub.call('GET', `/api/v1/jobs/${id}`)
  expect(json).toMatchObject({ state: 'failed', result: null })
  expect(json.reason).toContain('"b.txt" was named, but the hub does not have its content')
  expect((await hub.call('GET', `/api/v1/jobs/${id}/artifacts`)).json).toEqual({ artifacts: [], bytes: 0 })
})

test('an end that comes from an attempt that is over publishes nothing', async () => {
  const { id, fence } = await start()
  const artifacts = await leave(fence, { 'late.txt': Buffer.from('late') })
  await worker.ended(fence)
  await worker.ended(fence, { artifacts })
  expect((await hub.call('GET', `/api/v1/jobs/${id}/artifacts`)).json).toEqual({ artifacts: [], bytes: 0 })
})

test.each([
  ['a path that leads out', { path: '../x', sha256: sha256('x'), size: 1, executable: false }],
  ['no hash', { path: 'x', sha256: 'x', size: 1, executable: false }],
  ['half a character', { path: '\ud800', sha256: sha256('x'), size: 1, executable: false }],
  ['a size that is none', { path: 'x', sha256: sha256('x'), size: -1, executable: false }],
])('an end that names %s fails and publishes nothing', async (_, entry) => {
  const { id, fence } = await start()
  await worker.ended(fence, { artifacts: [entry] })
  expect((await hub.call('GET', `/api/v1/jobs/${id}`)).json.state).toBe('failed')
})

test('each attempt keeps what it left, the last one is shown', async () => {
  const { id, fence } = await start({ retries: { max: 1, backoff: { initial: 0.001 } } })
  await worker.ended(fence, {
    outcome: 'failed',
    error: 'x',
    artifacts: await leave(fence, { 'a.log': Buffer.from('1') }),
  })
  while ((await hub.call('GET', `/api/v1/jobs/${id}`)).json.state === 'waiting')
    await hub.engine.execute({ kind: 'tick' })
  const second = await worker.placed(id)
  await worker.running(second)
  await worker.ended(second, { artifacts: await leave(second, { 'b.log': Buffer.from('22') }) })
  const paths = async (query: string) =>
    ArtifactPage.parse((await hub.call('GET', `/api/v1/jobs/${id}/artifacts${query}`)).json).artifacts.map(a => a.path)
  expect(await paths('')).toEqual(['b.log'])
  expect(await paths('?attempt=1')).toEqual(['a.log'])
  expect((await hub.call('GET', `/api/v1/jobs/${id}/artifacts/a.log?attempt=1`)).text).toBe('1')
  expect((await hub.call('GET', `/api/v1/jobs/${id}/artifacts/a.log`)).status).toBe(404)
})

test('a worker reads only what its job names, and only while the attempt is its own', async () => {
  const named = bytesOf(100, 7)
  const other = bytesOf(100, 8)
  await put(hub, named)
  await put(hub, other)
  const { fence } = await start({ files: [{ path: 'in.bin', sha256: sha256(named), size: 100 }] })
  const ask = (at: Fence, bytes: Buffer, auth: Record<string, string> = headers(), method = 'GET') =>
    hub.call(method, place(at, sha256(bytes)), { token: null, headers: auth })
  expect((await ask(fence, named)).status).toBe(200)
  expect((await ask(fence, named, headers(), 'HEAD')).headers.get('content-length')).toBe('100')
  expect((await ask(fence, other)).json).toMatchObject({ status: 404, code: 'blob.not_found' })
  expect((await ask(fence, other, headers(), 'HEAD')).headers.get('upload-offset')).toBe('0')
  expect((await ask(fence, named, {})).json.code).toBe('auth.missing')
  for (const authorization of [
    `Bearer ${hub.admin}`,
    `Worker ${worker.id}:wrong`,
    `Worker nobody:${worker.secret}`,
    'Worker x',
  ])
    expect((await ask(fence, named, { authorization })).json.code).toBe('auth.invalid')
  const others = await TestWorker.join(hub, { name: 'other' })
  const stranger = { authorization: `Worker ${others.id}:${others.secret}` }
  expect((await ask(fence, named, stranger)).json.code).toBe('stale.attempt')
  expect((await ask({ ...fence, attempt: 2 }, named)).json.code).toBe('stale.attempt')
  expect(
    (await hub.call('GET', `/api/v1/attempts/x/blobs/${sha256(named)}`, { token: null, headers: headers() })).json,
  ).toMatchObject({ status: 409, code: 'stale.attempt' })
  await worker.ended(fence)
  expect((await ask(fence, named)).json.code).toBe('stale.attempt')
  expect((await upload(fence, bytesOf(5, 9))).json).toMatchObject({ status: 409, code: 'stale.attempt' })
})

test('a job that names content its owner does not have is refused with the place', async () => {
  const bytes = bytesOf(10, 11)
  const file = { path: 'x', sha256: sha256(bytes), size: 10 }
  const submit = async (body: object) => (await hub.call('POST', '/api/v1/jobs', { body })).json
  expect(await submit({ command: 'true', files: [file] })).toMatchObject({
    code: 'spec.invalid',
    errors: [{ path: 'files[0].sha256', message: expect.stringContaining('upload it first') }],
  })
  await put(hub, bytes)
  const wrong = await submit({ jobs: [{ type: 'noop' }, { command: 'true', files: [file, { ...file, size: 11 }] }] })
  expect(wrong.errors).toEqual([{ path: 'jobs[1].files[1].size', message: expect.stringContaining('10 bytes') }])
  expect((await submit({ command: 'true', files: [file] })).jobs).toHaveLength(1)
  const eve = await hub.token('submit', 'eve')
  const theirs = await hub.call('POST', '/api/v1/jobs', { body: { command: 'true', files: [file] }, token: eve })
  expect(theirs.json.code).toBe('spec.invalid')
})

test('a job can take what an ended job of its owner left', async () => {
  const { id, fence } = await start()
  const body = (file: object) => ({ command: 'true', files: [file] })
  const borrow = { path: 'in/model.sh', job: id.slice(-12), artifact: 'model.sh' }
  const submit = async (spec: object, token?: string) =>
    (await hub.call('POST', '/api/v1/jobs', { body: spec, ...(token === undefined ? {} : { token }) })).json
  const early = await submit(body(borrow))
  expect(early.errors).toEqual([{ path: 'files[0].job', message: expect.stringContaining('is active') }])
  const bytes = Buffer.from('weights')
  await worker.ended(fence, { artifacts: await leave(fence, { 'model.sh': bytes }) })
  const taken = await submit({ jobs: [{ type: 'noop' }, body(borrow)] })
  const { json } = await hub.call('GET', `/api/v1/jobs/${taken.jobs[1].id}`)
  expect(json.spec.files).toEqual([
    { path: 'in/model.sh', sha256: sha256(bytes), size: 7, unpack: null, executable: true },
  ])
  const wrong = await submit({
    jobs: [
      body({ ...borrow, artifact: 'other' }),
      body({ ...borrow, job: 'ffffffffffff' }),
      body({ ...borrow, artefact: 'x' }),
      body({ path: 'x', job: 7, artifact: '../x' }),
    ],
  })
  expect(wrong.errors.map((issue: { path: string }) => issue.path)).toEqual([
    'jobs[0].files[0].artifact',
    'jobs[1].files[0].job',
    'jobs[2].files[0].artefact',
    'jobs[3].files[0].job',
    'jobs[3].files[0].artifact',
  ])
  const admin = await submit(body(borrow), await hub.token('admin', 'root'))
  expect(admin.errors[0].message).toContain('is of "ada", the new one of "root"')
  expect((await submit(body(borrow), await hub.token('submit', 'eve'))).errors[0].path).toBe('files[0].job')
})
