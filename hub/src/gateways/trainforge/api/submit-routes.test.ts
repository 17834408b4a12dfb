import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { readSpec } from '@stoker/protocol'
import { describe, expect, it } from 'vitest'
import { TestWorker } from '../../../api/test-worker.ts'
import { aZip, CONFIG, openConsumer, useConsumer } from './test-consumer.ts'

const { consumer, zip } = useConsumer()

async function specOf(id: string) {
  const row = await consumer().hub.store.queries.jobById(id)
  return readSpec(row?.spec ?? '')
}

describe('a project that is uploaded', () => {
  it('is kept by its hash and becomes a job that runs its script', async () => {
    const { status, json } = await consumer().push({ ...CONFIG, extra: 1 }, zip())
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
    const sha256 = createHash('sha256').update(zip()).digest('hex')
    expect(await specOf(json.job_id)).toMatchObject({
      name: 'digits',
      command: ['python3', 'train.py'],
      files: [{ path: '.', sha256, size: zip().length, unpack: 'zip' }],
      environment: { requirements: 'six', python: null },
      env: { TRAINFORGE_JOB_ID: json.job_id },
      labels: { project: 'digits', dialect: 'trainforge' },
    })
    const files = await consumer().call('GET', `/api/jobs/${json.job_id}/files`)
    expect(files.bytes.equals(zip())).toBe(true)
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
      part('name="project_zip"; filename="p.zip"\r\nContent-Type: application/zip', zip()),
      part('name="config"\r\nContent-Type: application/json', JSON.stringify(CONFIG)),
      Buffer.from(`--${boundary}--\r\n`),
    ])
    const reply = await fetch(`${consumer().url}/api/jobs`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${consumer().hub.admin}`,
        'content-type': `multipart/form-data; boundary=${boundary}`,
      },
      body,
    })
    expect(reply.status).toBe(201)
  })

  it('runs in its image only where a worker has an engine, and says so', async () => {
    const { json } = await consumer().push({ ...CONFIG, environment: { base_image: 'python:3.11' } }, zip())
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
    const { status, json } = await consumer().push(config, zip())
    expect({ status, json }).toMatchObject({
      status: 400,
      json: { error: 'Bad request', message: expect.stringContaining(message) },
    })
  })

  it('without a zip(), or with something else in its place, is refused with 400', async () => {
    const cases: [Uint8Array | null, string][] = [
      [null, 'missing "project_zip"'],
      [Buffer.from(''), '"project_zip" is empty'],
      [Buffer.from('PK rubbish'), '"project_zip": the archive is damaged'],
    ]
    for (const [body, message] of cases) expect((await consumer().push(CONFIG, body)).json.message).toContain(message)
    const form = await consumer().call('POST', '/api/jobs', {
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect(form).toMatchObject({ status: 400, json: { message: expect.stringContaining('not multipart') } })
    const odd = await consumer().call('POST', '/api/jobs', {
      body: 'x',
      headers: { 'content-type': 'multipart/form-data' },
    })
    expect(odd.status).toBe(400)
    const cut = await consumer().call('POST', '/api/jobs', {
      body: '--a\r\nContent',
      headers: { 'content-type': 'multipart/form-data; boundary=a' },
    })
    expect(cut.status).toBe(400)
  })

  it('with names that lead out of it is refused', async () => {
    const bytes = (await aZip({ 'train.py': '', 'aa/aa/aa.py': 'x' }))
      .toString('latin1')
      .replaceAll('aa/aa/aa.py', '../../bb.py')
    const { status, json } = await consumer().push(CONFIG, Buffer.from(bytes, 'latin1'))
    expect({ status, message: json.message }).toEqual({ status: 400, message: expect.stringContaining('outside') })
  })

  it('above the limits gets 413, and nothing of it stays', async () => {
    const small = await openConsumer({ maxProjectBytes: 100 })
    try {
      expect(await small.push(CONFIG, zip())).toMatchObject({
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
    await consumer().hub.engine.execute({
      kind: 'setLimits',
      owner: 'bob',
      limits: { queued: null, running: null, gpus: null, bytes: 10 },
    })
    const bob = await consumer().hub.token('submit', 'bob')
    expect(await consumer().push(CONFIG, zip(), { token: bob })).toMatchObject({
      status: 413,
      json: { code: 'owner.storage' },
    })
  })

  it('that breaks off in the middle leaves nothing', async () => {
    const { port } = new URL(consumer().url)
    const socket = connect(Number(port), '127.0.0.1')
    const head = `POST /api/jobs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${consumer().hub.admin}\r\nContent-Type: multipart/form-data; boundary=a\r\nContent-Length: 100000\r\n\r\n`
    socket.write(`${head}--a\r\nContent-Disposition: form-data; name="project_zip"; filename="a"\r\n\r\nPK`)
    await new Promise(resolve => setImmediate(resolve))
    socket.destroy()
    expect((await consumer().call('GET', '/api/jobs')).json).toEqual({ success: true, jobs: [], count: 0 })
  })
})

describe('a distributed project', () => {
  const push = (fields: Record<string, string>, config: unknown = CONFIG) =>
    consumer().push(config, zip(), { path: '/api/jobs/distributed', fields })

  it('runs as so many processes on one worker', async () => {
    await TestWorker.join(consumer().hub)
    const { status, json } = await push({ num_workers: '2' })
    expect({ status, json }).toMatchObject({ status: 201, json: { is_distributed: true, num_workers: 2 } })
    expect(await specOf(json.job_id)).toMatchObject({ ranks: 2, resources: { cpus: 2 } })
    const record = (await consumer().call('GET', `/api/jobs/${json.job_id}`)).json
    expect(record).toMatchObject({ is_distributed: true, num_workers: 2 })
  })

  it('that no worker can hold is refused with the reason', async () => {
    await TestWorker.join(consumer().hub)
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
