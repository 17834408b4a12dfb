import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sha256, unpackArchive } from '@stoker/files'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestGateway } from './test-gateway.ts'
import { nodesOf } from './test-nodes.ts'

let gateway: TestGateway
beforeEach(async () => {
  gateway = await TestGateway.open()
})
afterEach(() => gateway.close())
const { register, poll, stateOf, runner } = nodesOf(() => gateway)

async function enter(id: string, more: object = {}): Promise<void> {
  const body = { worker_id: id, status: 'idle', worker_type: 'external_colab', location: 'google_colab', ...more }
  expect((await gateway.call('POST', '/api/workers/register', { body })).status).toBe(200)
}
const pending = async (): Promise<string[]> => {
  const { status, json } = await gateway.call('GET', '/api/jobs/pending', {
    headers: { 'content-type': 'application/json', 'ngrok-skip-browser-warning': 'true' },
  })
  expect(status).toBe(200)
  expect(Array.isArray(json)).toBe(true)
  return json.map(({ job_id }: { job_id: string }) => job_id)
}
const claim = (worker_id: string, id: string) => gateway.call('POST', `/api/jobs/${id}/claim`, { body: { worker_id } })
const log = (id: string, logs: object[]) => gateway.call('POST', `/api/jobs/${id}/logs/batch`, { body: { logs } })
const end = (id: string, body: object) => gateway.call('PUT', `/api/jobs/${id}/status`, { body })
describe('a notebook', () => {
  it('sees what it can have, claims it, logs, sends results and ends it', async () => {
    await enter('c', { gpu_name: 'Tesla T4', gpu_memory_gb: 15, capabilities: { gpu_count: 1 } })
    const id = await gateway.submit({ command: 'x', resources: { gpus: 1, cpus: 1 } })
    await gateway.submit({ command: 'x', resources: { gpus: 2 } })
    expect(await pending()).toEqual([id])
    const first = await claim('c', id)
    expect(first).toMatchObject({ status: 200, json: { success: true, job_id: id, worker_id: 'c' } })
    expect(await claim('c', id)).toEqual(first)
    expect((await gateway.job(id)).attemptState).toBe('running')
    expect(await pending()).toEqual([])
    const batch = [
      { message: 'epoch 1', timestamp: 1.5 },
      { message: '', timestamp: 1.6 },
    ]
    for (let n = 0; n < 2; n += 1) expect((await log(id, batch)).status).toBe(200)
    expect((await gateway.call('POST', `/api/jobs/${id}/logs`, { body: { message: 'two' } })).status).toBe(200)
    expect(await gateway.outputOf(id)).toBe('epoch 1\n\ntwo\n')
    const form = new FormData()
    form.set('results_zip', new Blob(['zip']), 'results.zip')
    expect((await gateway.call('POST', `/api/jobs/${id}/results`, { body: form })).json).toMatchObject({ kept: true })
    expect((await end(id, { status: 'completed', message: 'done' })).status).toBe(200)
    expect(await stateOf(id)).toBe('succeeded')
    const { seq } = await gateway.job(id)
    expect(await gateway.store.queries.artifacts(seq, 1, '', 10)).toMatchObject([
      { path: 'results.zip', sha256: sha256('zip') },
    ])
  })

  it('that loses a claim is told so, and the job is shown to nobody', async () => {
    for (const id of ['a', 'b', 'c']) await enter(id)
    const id = await gateway.submit()
    const answers = await Promise.all(['a', 'b', 'c'].map(worker => claim(worker, id)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409])
    expect(await pending()).toEqual([])
    expect((await gateway.call('POST', `/api/jobs/${id}/claim`, { body: {} })).status).toBe(400)
  })

  it('is not shown what a claim of it would not get', async () => {
    await enter('c')
    await gateway.submit({ command: 'x', resources: { gpus: 1 } })
    expect(await pending()).toEqual([])
    await register('n')
    const id = await gateway.submit()
    expect(await poll('n')).toEqual([id])
    expect((await claim('c', id)).status).toBe(409)
  })

  it('gets the files as a zip whose train.py is the runner, and its lines count once', async () => {
    await enter('c')
    const id = await gateway.submit({ command: 'x', files: [await gateway.aFile('a/b.txt', 'hi')] })
    await claim('c', id)
    const reply = await fetch(`${gateway.url}/api/jobs/${id}/files`, {
      headers: { authorization: `Bearer ${gateway.token}` },
    })
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/zip'])
    const archive = join(gateway.folder, 'files.zip')
    await writeFile(archive, Buffer.from(await reply.arrayBuffer()))
    await unpackArchive(archive, 'zip', join(gateway.folder, 'out'))
    expect(await readFile(join(gateway.folder, 'out', 'work/a/b.txt'), 'utf8')).toBe('hi')
    expect(await readFile(join(gateway.folder, 'out', 'train.py'), 'utf8')).toContain('stoker.json')
    const call = await runner(id)
    await call('start')
    await call('output?stream=stdout&offset=0', Buffer.from('one\n'))
    expect((await log(id, [{ message: 'one' }])).status).toBe(200)
    expect(await gateway.outputOf(id)).toBe('one\n')
  })

  it('that fails says why, and late words of it change nothing', async () => {
    await enter('c')
    const id = await gateway.submit()
    await claim('c', id)
    await end(id, { status: 'failed', message: 'no module named torch' })
    expect(await gateway.job(id)).toMatchObject({ state: 'failed', error: 'no module named torch' })
    expect((await end(id, { status: 'completed' })).status).toBe(200)
    expect(await stateOf(id)).toBe('failed')
  })

  it('is silent while it works, and asked to register when nobody knows it', async () => {
    await enter('c')
    const id = await gateway.submit()
    await claim('c', id)
    await gateway.pass(3600)
    expect(await stateOf(id)).toBe('active')
    const beat = (worker: string) =>
      gateway.call('POST', `/api/workers/${encodeURIComponent(worker)}/heartbeat`, { body: { timestamp: 1.5 } })
    expect((await beat('c')).status).toBe(200)
    expect((await beat('a/b c')).status).toBe(404)
  })

  it('claims the next attempt under its own id, after another lost the first', async () => {
    await enter('c')
    const id = await gateway.submit()
    await claim('c', id)
    await enter('c')
    expect(await pending()).toEqual([`${id}.2`])
    expect((await claim('c', id)).status).toBe(409)
    expect((await claim('c', `${id}.2`)).status).toBe(200)
    await end(id, { status: 'completed' })
    expect(await stateOf(id)).toBe('active')
  })
})
