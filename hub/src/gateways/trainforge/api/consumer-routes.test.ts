import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { readSpec } from '@stoker/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestWorker } from '../../../api/test-worker.ts'
import { aZip, type Consumer, openConsumer } from './test-consumer.ts'

const CONFIG = {
  project: { name: 'digits' },
  training: { script: 'train.py' },
  resources: { gpu: 0, cpu: 1, memory: '512Mi' },
}
let consumer: Consumer
let zip: Buffer

beforeEach(async () => {
  consumer = await openConsumer()
  zip = await aZip({ 'train.py': 'print(1)', 'requirements.txt': 'six\n' })
})
afterEach(() => consumer.close())

async function pushed(config: unknown = CONFIG): Promise<string> {
  const { status, json } = await consumer.push(config, zip)
  expect({ status, json }).toMatchObject({ status: 201 })
  return json.job_id
}

async function specOf(id: string) {
  const row = await consumer.hub.store.queries.jobById(id)
  return readSpec(row?.spec ?? '')
}

describe('a project that is uploaded', () => {
  it('is kept by its hash and becomes a job that runs its script', async () => {
    const { status, json } = await consumer.push({ ...CONFIG, extra: 1 }, zip)
    expect(status).toBe(201)
    expect(json).toEqual({
      success: true,
      message: 'Job submitted successfully',
      job_id: expect.any(String),
      project_name: 'digits',
      status: 'pending',
      resources: { gpu: 0, cpu: 1, memory: '512Mi' },
      created_at: expect.stringMatching(/Z$/),
      warnings: ['extra is not known and changes nothing'],
    })
    const sha256 = createHash('sha256').update(zip).digest('hex')
    expect(await specOf(json.job_id)).toMatchObject({
      name: 'digits',
      command: ['python3', 'train.py'],
      files: [{ path: '.', sha256, size: zip.length, unpack: 'zip' }],
      environment: { requirements: 'six', python: null },
      env: { TRAINFORGE_JOB_ID: json.job_id },
      labels: { project: 'digits', dialect: 'trainforge' },
    })
    const files = await consumer.call('GET', `/api/jobs/${json.job_id}/files`)
    expect(files.bytes.equals(zip)).toBe(true)
    expect(files.headers.get('content-type')).toBe('application/zip')
  })

  it('may send its configuration as a part that is JSON, behind the zip', async () => {
    const boundary = 'xyz'
    const part = (head: string, body: Uint8Array | string) =>
      Buffer.concat([
        Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
        Buffer.from(body),
        Buffer.from('\r\n'),
      ])
    const body = Buffer.concat([
      part('name="other"; filename="x"\r\nContent-Type: text/plain', 'dropped'),
      part('name="project_zip"; filename="p.zip"\r\nContent-Type: application/zip', zip),
      part('name="config"\r\nContent-Type: application/json', JSON.stringify(CONFIG)),
      Buffer.from(`--${boundary}--\r\n`),
    ])
    const reply = await fetch(`${consumer.url}/api/jobs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${consumer.hub.admin}`,
        'content-type': `multipart/form-data; boundary=${boundary}`,
      },
      body,
    })
    expect(reply.status).toBe(201)
  })

  it('runs in its image only where a worker has an engine, and says so', async () => {
    const { json } = await consumer.push({ ...CONFIG, environment: { base_image: 'python:3.11' } }, zip)
    expect(json.warnings).toEqual([
      expect.stringMatching(/^it runs without its image python:3.11: no worker has joined/),
    ])
    expect((await specOf(json.job_id)).container).toBeNull()
  })

  it.each([
    ['no config', null, 'missing "config"'],
    ['no JSON', '{', '"config": the body is no JSON'],
    ['a deep one', '['.repeat(80) + ']'.repeat(80), 'nested deeper'],
    ['no name', { training: {} }, 'project.name: missing'],
    [
      'a script that is not there',
      { project: { name: 'n' }, training: { script: 'fit.py' } },
      'the zip has "train.py"',
    ],
    [
      'requirements that are not there',
      { project: { name: 'n' }, training: { requirements: 'x.txt' } },
      'x.txt: the project has no such file',
    ],
    ['too many GPUs', { project: { name: 'n' }, resources: { gpu: 65 } }, 'resources.gpus: found 65'],
  ])('with %s is refused with 400', async (_, config, message) => {
    const { status, json } = await consumer.push(config, zip)
    expect({ status, json }).toMatchObject({
      status: 400,
      json: { error: 'Bad request', message: expect.stringContaining(message) },
    })
  })

  it('without a zip, or with something else in its place, is refused with 400', async () => {
    const cases: [Uint8Array | null, string][] = [
      [null, 'missing "project_zip"'],
      [Buffer.from(''), '"project_zip" is empty'],
      [Buffer.from('PK rubbish'), '"project_zip": the archive is damaged'],
    ]
    for (const [body, message] of cases) expect((await consumer.push(CONFIG, body)).json.message).toContain(message)
    const form = await consumer.call('POST', '/api/jobs', {
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(form).toMatchObject({ status: 400, json: { message: expect.stringContaining('not multipart') } })
    const odd = await consumer.call('POST', '/api/jobs', {
      body: 'x',
      headers: { 'content-type': 'multipart/form-data' },
    })
    expect(odd.status).toBe(400)
    const cut = await consumer.call('POST', '/api/jobs', {
      body: '--a\r\nContent',
      headers: { 'content-type': 'multipart/form-data; boundary=a' },
    })
    expect(cut.status).toBe(400)
  })

  it('with names that lead out of it is refused', async () => {
    const bytes = (await aZip({ 'train.py': '', 'aa/aa/aa.py': 'x' }))
      .toString('latin1')
      .replaceAll('aa/aa/aa.py', '../../bb.py')
    const { status, json } = await consumer.push(CONFIG, Buffer.from(bytes, 'latin1'))
    expect({ status, message: json.message }).toEqual({ status: 400, message: expect.stringContaining('outside') })
  })

  it('above the limits gets 413, and nothing of it stays', async () => {
    const small = await openConsumer({ maxProjectBytes: 100 })
    try {
      expect(await small.push(CONFIG, zip)).toMatchObject({
        status: 413,
        json: { message: expect.stringContaining('more than 100 B') },
      })
      const long = await small.push({ ...CONFIG, description: 'x'.repeat(70_000) }, Buffer.from('x'))
      expect(long).toMatchObject({ status: 413, json: { message: expect.stringContaining('"config" has more than') } })
      await small.hub.engine.execute({
        kind: 'setLimits',
        owner: 'bob',
        limits: { queued: null, running: null, gpus: null, bytes: 10 },
      })
    } finally {
      await small.close()
    }
    await consumer.hub.engine.execute({
      kind: 'setLimits',
      owner: 'bob',
      limits: { queued: null, running: null, gpus: null, bytes: 10 },
    })
    const bob = await consumer.hub.token('submit', 'bob')
    expect(await consumer.push(CONFIG, zip, { token: bob })).toMatchObject({
      status: 413,
      json: { code: 'owner.storage' },
    })
  })

  it('that breaks off in the middle leaves nothing', async () => {
    const { port } = new URL(consumer.url)
    const socket = connect(Number(port), '127.0.0.1')
    const head = `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${consumer.hub.admin}\r\nContent-Type: multipart/form-data; boundary=a\r\nContent-Length: 100000\r\n\r\n`
    socket.write(`${head}--a\r\nContent-Disposition: form-data; name="project_zip"; filename="a"\r\n\r\nPK`)
    await new Promise(resolve => setImmediate(resolve))
    socket.destroy()
    expect((await consumer.call('GET', '/api/jobs')).json).toEqual({ success: true, jobs: [], count: 0 })
  })
})

describe('a distributed project', () => {
  const push = (fields: Record<string, string>, config: unknown = CONFIG) =>
    consumer.push(config, zip, { path: '/api/jobs/distributed', fields })

  it('runs as so many processes on one worker', async () => {
    await TestWorker.join(consumer.hub)
    const { status, json } = await push({ num_workers: '2' })
    expect({ status, json }).toMatchObject({ status: 201, json: { is_distributed: true, num_workers: 2 } })
    expect(await specOf(json.job_id)).toMatchObject({ ranks: 2, resources: { cpus: 2 } })
    const record = (await consumer.call('GET', `/api/jobs/${json.job_id}`)).json
    expect(record).toMatchObject({ is_distributed: true, num_workers: 2 })
  })

  it('that no worker can hold is refused with the reason', async () => {
    await TestWorker.join(consumer.hub)
    const { status, json } = await push({ num_workers: '4' }, { ...CONFIG, resources: { gpu: 1 } })
    expect({ status, json }).toMatchObject({
      status: 409,
      json: {
        error: 'No worker can run the job',
        message: expect.stringMatching(/^4 workers run on one machine here: needs 4 GPUs/),
      },
    })
  })

  it.each(['', '0', '65', '1.5', 'x'])('of %j workers is refused', async num_workers => {
    expect((await push({ num_workers })).status).toBe(400)
  })
})

describe('a job', () => {
  it('has the documented record in each of its states, its log and its results', async () => {
    const id = await pushed()
    const pending = (await consumer.call('GET', `/api/jobs/${id}`)).json
    expect(pending).toMatchObject({
      success: true,
      job_id: id,
      project_name: 'digits',
      training_script: 'train.py',
      status: 'pending',
      progress: 0,
      resources: { gpu: 0, cpu: 1, memory: '512Mi' },
      config: CONFIG,
      logs: [],
      error_message: null,
      gpu_id: null,
      worker_node: null,
      duration: null,
      started_at: null,
      completed_at: null,
    })
    const worker = await TestWorker.join(consumer.hub)
    const fence = await worker.placed(id)
    await worker.running(fence)
    consumer.hub.board.put(worker.id, {
      at: Date.now(),
      host: null,
      gpus: [],
      attempts: [{ fence, cpus: null, memoryBytes: null, progress: { percent: 40, operation: null, metrics: {} } }],
    } as never)
    await worker.output(fence, 'stdout', 'one\n\ntwo\nthree')
    const running = (await consumer.call('GET', `/api/jobs/${id}.2`)).json
    expect(running).toMatchObject({
      status: 'running',
      progress: 40,
      worker_node: worker.id,
      started_at: expect.any(String),
    })
    expect(running.logs.map((line: { message: string }) => line.message)).toEqual(['one', '', 'two', 'three'])
    const logs = (await consumer.call('GET', `/api/jobs/${id}/logs?limit=2`)).json
    expect(logs).toEqual({
      success: true,
      logs: [
        { timestamp: expect.stringMatching(/Z$/), message: 'two' },
        { timestamp: expect.any(String), message: 'three' },
      ],
      truncated: true,
    })
    await worker.ended(fence, { outcome: 'failed', exitCode: 3, error: 'exit code 3' })
    expect((await consumer.call('GET', `/api/jobs/${id}`)).json).toMatchObject({
      status: 'failed',
      error_message: 'exit code 3',
      duration: expect.any(Number),
      completed_at: expect.any(String),
    })
    const stats = (await consumer.call('GET', `/api/workers/${worker.id}/stats`)).json
    expect(stats).toMatchObject({ jobs_completed: 0, jobs_failed: 1, success_rate: '0.00%', status: 'idle' })
  })

  it('gives its results one by one, as a list and as a zip', async () => {
    const id = await pushed()
    const worker = await TestWorker.join(consumer.hub)
    const fence = await worker.placed(id)
    await worker.running(fence)
    const text = 'weights'
    const sha256 = createHash('sha256').update(text).digest('hex')
    await consumer.hub.blobs.put({
      owner: 'ada',
      sha256,
      size: 7,
      first: 0,
      length: 7,
      body: (async function* () {
        yield [Buffer.from(text)]
      })(),
    })
    expect(await consumer.call('GET', `/api/jobs/${id}/results`)).toMatchObject({
      status: 404,
      json: { error: 'Results not found' },
    })
    await worker.ended(fence, { artifacts: [{ path: 'outputs/m.pt', sha256, size: 7, executable: false }] })
    const list = (await consumer.call('GET', `/api/jobs/${id}/results/files`)).json
    expect(list).toMatchObject({
      success: true,
      job_id: id,
      count: 1,
      total_size: 7,
      files: [{ name: 'm.pt', path: 'outputs/m.pt', size: 7 }],
    })
    const file = await consumer.call('GET', `/api/jobs/${id}/results/file/outputs/m.pt`)
    expect(file.bytes.toString()).toBe(text)
    expect(file.headers.get('content-disposition')).toContain('m.pt')
    const all = await consumer.call('GET', `/api/jobs/${id}/results`)
    expect(all.bytes.subarray(0, 2).toString()).toBe('PK')
    expect(all.bytes.includes('outputs/m.pt')).toBe(true)
    for (const path of ['..%2F..%2Fetc%2Fpasswd', '%2Fetc%2Fpasswd', 'a%5Cb'])
      expect((await consumer.call('GET', `/api/jobs/${id}/results/file/${path}`)).status).toBe(403)
    expect((await consumer.call('GET', `/api/jobs/${id}/results/file/none`)).status).toBe(404)
    expect((await consumer.call('GET', `/api/workers/${worker.id}`)).json).toMatchObject({ jobs_completed: 1 })
  })

  it('is cancelled by DELETE and by PUT, and by nobody twice', async () => {
    const [a, b] = [await pushed(), await pushed()]
    expect((await consumer.call('DELETE', `/api/jobs/${a}`)).json).toMatchObject({
      success: true,
      message: 'Job cancelled',
    })
    expect((await consumer.call('DELETE', `/api/jobs/${a}`)).status).toBe(409)
    const put = (body: unknown) => consumer.call('PUT', `/api/jobs/${b}`, { body: JSON.stringify(body) })
    expect((await put({ status: 'done' })).status).toBe(400)
    expect((await put({ status: 'completed' })).status).toBe(409)
    expect((await put([1])).status).toBe(400)
    expect((await put({ priority: 5, note: 'x' })).json).toMatchObject({
      success: true,
      status: 'pending',
      ignored: ['note'],
    })
    expect((await put({ status: 'cancelled' })).json).toMatchObject({ success: true, status: 'cancelled' })
    expect((await put({ priority: 5 })).status).toBe(409)
  })

  it('is cancelled on the wire as soon as it is being stopped', async () => {
    const id = await pushed()
    const worker = await TestWorker.join(consumer.hub)
    await worker.running(await worker.placed(id))
    expect((await consumer.call('DELETE', `/api/jobs/${id}`)).json).toMatchObject({
      message: 'Job is being stopped',
      status: 'cancelled',
    })
  })

  it('is listed newest first, in pages, and only for its owner', async () => {
    const ids = [await pushed(), await pushed(), await pushed()]
    const first = (await consumer.call('GET', '/api/jobs?limit=2')).json
    expect(first).toMatchObject({ success: true, count: 2 })
    expect(first.jobs.map((job: { job_id: string }) => job.job_id)).toEqual([ids[2], ids[1]])
    const second = (await consumer.call('GET', `/api/jobs?limit=2&cursor=${first.next_cursor}`)).json
    expect(second.jobs.map((job: { job_id: string }) => job.job_id)).toEqual([ids[0]])
    const bob = await consumer.hub.token('submit', 'bob')
    expect((await consumer.call('GET', '/api/jobs', { token: bob })).json.count).toBe(0)
    expect(await consumer.call('GET', `/api/jobs/${ids[0]}`, { token: bob })).toMatchObject({
      status: 404,
      json: { error: 'Job not found' },
    })
    expect((await consumer.call('GET', '/api/jobs?limit=0')).status).toBe(400)
  })

  it('that came another way has its files as a zip too', async () => {
    const text = 'print(2)'
    const sha256 = createHash('sha256').update(text).digest('hex')
    await consumer.hub.blobs.put({
      owner: 'ada',
      sha256,
      size: 8,
      first: 0,
      length: 8,
      body: (async function* () {
        yield [Buffer.from(text)]
      })(),
    })
    const { json } = await consumer.hub.call('POST', '/api/v1/jobs', {
      body: { command: ['true'], files: [{ path: 'sub/a.py', sha256, size: 8 }] },
    })
    const files = await consumer.call('GET', `/api/jobs/${json.jobs[0].id}/files`)
    expect(files.bytes.includes('sub/a.py')).toBe(true)
    const bare = await consumer.hub.call('POST', '/api/v1/jobs', { body: { command: ['true'] } })
    expect((await consumer.call('GET', `/api/jobs/${bare.json.jobs[0].id}/files`)).status).toBe(404)
  })
})

describe('workers', () => {
  it('are a bare array, and one by one by id or name', async () => {
    expect((await consumer.call('GET', '/api/workers')).json).toEqual([])
    const worker = await TestWorker.join(consumer.hub, { name: 'box / 7' })
    const [record] = (await consumer.call('GET', '/api/workers')).json
    expect(record).toMatchObject({
      worker_id: worker.id,
      status: 'idle',
      worker_type: 'native',
      capabilities: { max_concurrent_jobs: expect.any(Number), supports_gpu: expect.any(Boolean) },
      jobs_completed: 0,
      current_jobs: [],
      dialect: 'native',
      simulated: false,
    })
    expect((await consumer.call('GET', '/api/workers/box%20%2F%207')).json.worker_id).toBe(worker.id)
    expect(await consumer.call('GET', '/api/workers/nobody')).toMatchObject({
      status: 404,
      json: { error: 'Worker not found' },
    })
    expect((await consumer.call('GET', `/api/workers/${worker.id}/stats`)).json).toMatchObject({
      success_rate: 'N/A',
      uptime: expect.any(Number),
    })
  })

  it('are drained and forgotten by an admin', async () => {
    const worker = await TestWorker.join(consumer.hub)
    const path = `/api/workers/${worker.id}`
    const put = (status: unknown, token?: string) =>
      consumer.call('PUT', `${path}/status`, {
        body: JSON.stringify({ status }),
        ...(token === undefined ? {} : { token }),
      })
    expect((await put('draining')).json).toMatchObject({ status: 'draining', message: 'Worker is draining' })
    expect((await put('idle', await consumer.hub.token('worker', 'w'))).json).toMatchObject({ status: 'draining' })
    expect((await put('idle')).json).toMatchObject({ status: 'idle' })
    expect((await put('sleepy')).status).toBe(400)
    expect((await put(7)).status).toBe(400)
    const id = await pushed()
    const fence = await worker.placed(id)
    expect((await consumer.call('DELETE', path)).json).toMatchObject({ status: 'draining' })
    await worker.running(fence)
    await worker.ended(fence)
    expect((await consumer.call('DELETE', path)).json).toMatchObject({ status: 'removed' })
    expect((await consumer.call('DELETE', path)).status).toBe(404)
  })
})

describe('the door', () => {
  it('is open for /health alone, and the documented 404 is for the rest', async () => {
    expect((await consumer.call('GET', '/health', { token: null })).json).toEqual({
      status: 'healthy',
      timestamp: expect.any(String),
      version: '0.0.0-test',
      service: 'stoker',
      database: 'connected',
      uptime: expect.any(Number),
      memory: { rss: expect.any(Number), heapUsed: expect.any(Number), heapTotal: expect.any(Number) },
      requests: 1,
    })
    expect((await consumer.call('GET', '/api/jobs', { token: null })).status).toBe(401)
    expect((await consumer.call('GET', '/api/jobs', { token: 'wrong' })).json).toMatchObject({ error: 'Unauthorized' })
    expect(await consumer.call('GET', '/api/nothing?x=1')).toMatchObject({
      status: 404,
      json: { error: 'Endpoint not found', path: '/api/nothing', method: 'GET', requestId: expect.any(String) },
    })
  })

  it('knows who may do what', async () => {
    const [read, submit, worker] = [
      await consumer.hub.token('read', 'ada'),
      await consumer.hub.token('submit', 'ada'),
      await consumer.hub.token('worker', 'w'),
    ]
    const id = await pushed()
    expect((await consumer.push(CONFIG, zip, { token: read })).status).toBe(403)
    expect((await consumer.push(CONFIG, zip, { token: submit })).status).toBe(201)
    expect((await consumer.call('DELETE', `/api/jobs/${id}`, { token: read })).status).toBe(403)
    expect((await consumer.call('PUT', `/api/jobs/${id}`, { token: worker, body: '{}' })).status).toBe(403)
    expect((await consumer.call('GET', '/api/workers', { token: worker })).status).toBe(200)
    expect((await consumer.call('GET', '/api/jobs', { token: worker })).status).toBe(403)
    expect((await consumer.call('GET', `/api/jobs/${id}/files`, { token: worker })).status).toBe(403)
    expect((await consumer.call('DELETE', '/api/workers/x', { token: submit })).status).toBe(403)
  })

  it('takes tokens as the password of the address and as the beginning of the path', async () => {
    const basic = `Basic ${Buffer.from(`me:${consumer.hub.admin}`).toString('base64')}`
    expect((await consumer.call('GET', '/api/jobs', { token: null, headers: { authorization: basic } })).status).toBe(
      200,
    )
    expect((await consumer.call('GET', `/t/${consumer.hub.admin}//api/jobs`, { token: null })).status).toBe(200)
  })

  it('lets callers of this machine in where the operator opened it', async () => {
    const open = await openConsumer({ isOpen: true })
    expect((await open.push(CONFIG, zip, { token: null })).status).toBe(201)
    expect((await open.call('GET', '/api/workers', { token: null })).json).toEqual([])
    await open.close()
  })

  it('refuses new work when the disk is full or the hub stops', async () => {
    const full = await openConsumer({ diskGuard: () => ({ freeBytes: 1, neededBytes: 2 }) })
    expect(await full.push(CONFIG, zip)).toMatchObject({ status: 507, json: { code: 'disk.full' } })
    await full.close()
    const stopping = await openConsumer({ isStopping: () => true })
    expect((await stopping.call('GET', '/health')).status).toBe(503)
    await stopping.close()
  })
})
