import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { TestWorker } from '../../../api/test-worker.ts'
import { CONFIG, useConsumer } from './test-consumer.ts'

const { consumer, pushed } = useConsumer()

describe('a job', () => {
  it('has the documented record in each of its states, its log and its results', async () => {
    const id = await pushed()
    const pending = (await consumer().call('GET', `/api/jobs/${id}`)).json
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
    const worker = await TestWorker.join(consumer().hub)
    const fence = await worker.placed(id)
    await worker.running(fence)
    consumer().hub.board.put(worker.id, {
      at: Date.now(),
      host: null,
      gpus: [],
      attempts: [{ fence, cpus: null, memoryBytes: null, progress: { percent: 40, operation: null, metrics: {} } }],
    } as never)
    await worker.output(fence, 'stdout', 'one\n\ntwo\nthree')
    const running = (await consumer().call('GET', `/api/jobs/${id}.2`)).json
    expect(running).toMatchObject({
      status: 'running',
      progress: 40,
      worker_node: worker.id,
      started_at: expect.any(String),
    })
    expect(running.logs.map((line: { message: string }) => line.message)).toEqual(['one', '', 'two', 'three'])
    const logs = (await consumer().call('GET', `/api/jobs/${id}/logs?limit=2`)).json
    expect(logs).toEqual({
      success: true,
      logs: [
        { timestamp: expect.stringMatching(/Z$/), message: 'two' },
        { timestamp: expect.any(String), message: 'three' },
      ],
      truncated: true,
    })
    await worker.ended(fence, { outcome: 'failed', exitCode: 3, error: 'exit code 3' })
    expect((await consumer().call('GET', `/api/jobs/${id}`)).json).toMatchObject({
      status: 'failed',
      error_message: 'exit code 3',
      duration: expect.any(Number),
      completed_at: expect.any(String),
    })
    const stats = (await consumer().call('GET', `/api/workers/${worker.id}/stats`)).json
    expect(stats).toMatchObject({ jobs_completed: 0, jobs_failed: 1, success_rate: '0.00%', status: 'idle' })
  })

  it('gives its results one by one, as a list and as a zip', async () => {
    const id = await pushed()
    const worker = await TestWorker.join(consumer().hub)
    const fence = await worker.placed(id)
    await worker.running(fence)
    const text = 'weights'
    const sha256 = createHash('sha256').update(text).digest('hex')
    await consumer().hub.blobs.put({
      owner: 'ada',
      sha256,
      size: 7,
      first: 0,
      length: 7,
      body: (async function* () {
        yield [Buffer.from(text)]
      })(),
    })
    expect(await consumer().call('GET', `/api/jobs/${id}/results`)).toMatchObject({
      status: 404,
      json: { error: 'Results not found' },
    })
    await worker.ended(fence, { artifacts: [{ path: 'outputs/m.pt', sha256, size: 7, executable: false }] })
    const list = (await consumer().call('GET', `/api/jobs/${id}/results/files`)).json
    expect(list).toMatchObject({
      success: true,
      job_id: id,
      count: 1,
      total_size: 7,
      files: [{ name: 'm.pt', path: 'outputs/m.pt', size: 7 }],
    })
    const file = await consumer().call('GET', `/api/jobs/${id}/results/file/outputs/m.pt`)
    expect(file.bytes.toString()).toBe(text)
    expect(file.headers.get('content-disposition')).toContain('m.pt')
    const all = await consumer().call('GET', `/api/jobs/${id}/results`)
    expect(all.bytes.subarray(0, 2).toString()).toBe('PK')
    expect(all.bytes.includes('outputs/m.pt')).toBe(true)
    for (const path of ['..%2F..%2Fetc%2Fpasswd', '%2Fetc%2Fpasswd', 'a%5Cb'])
      expect((await consumer().call('GET', `/api/jobs/${id}/results/file/${path}`)).status).toBe(403)
    expect((await consumer().call('GET', `/api/jobs/${id}/results/file/none`)).status).toBe(404)
    expect((await consumer().call('GET', `/api/workers/${worker.id}`)).json).toMatchObject({ jobs_completed: 1 })
  })

  it('is cancelled by DELETE and by PUT, and by nobody twice', async () => {
    const [a, b] = [await pushed(), await pushed()]
    expect((await consumer().call('DELETE', `/api/jobs/${a}`)).json).toMatchObject({
      success: true,
      message: 'Job cancelled',
    })
    expect((await consumer().call('DELETE', `/api/jobs/${a}`)).status).toBe(409)
    const put = (body: unknown) => consumer().call('PUT', `/api/jobs/${b}`, { body: JSON.stringify(body) })
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
    const worker = await TestWorker.join(consumer().hub)
    await worker.running(await worker.placed(id))
    expect((await consumer().call('DELETE', `/api/jobs/${id}`)).json).toMatchObject({
      message: 'Job is being stopped',
      status: 'cancelled',
    })
  })

  it('is listed newest first, in pages, and only for its owner', async () => {
    const ids = [await pushed(), await pushed(), await pushed()]
    const first = (await consumer().call('GET', '/api/jobs?limit=2')).json
    expect(first).toMatchObject({ success: true, count: 2 })
    expect(first.jobs.map((job: { job_id: string }) => job.job_id)).toEqual([ids[2], ids[1]])
    const second = (await consumer().call('GET', `/api/jobs?limit=2&cursor=${first.next_cursor}`)).json
    expect(second.jobs.map((job: { job_id: string }) => job.job_id)).toEqual([ids[0]])
    const bob = await consumer().hub.token('submit', 'bob')
    expect((await consumer().call('GET', '/api/jobs', { token: bob })).json.count).toBe(0)
    expect(await consumer().call('GET', `/api/jobs/${ids[0]}`, { token: bob })).toMatchObject({
      status: 404,
      json: { error: 'Job not found' },
    })
    expect((await consumer().call('GET', '/api/jobs?limit=0')).status).toBe(400)
  })

  it('that came another way has its files as a zip too', async () => {
    const text = 'print(2)'
    const sha256 = createHash('sha256').update(text).digest('hex')
    await consumer().hub.blobs.put({
      owner: 'ada',
      sha256,
      size: 8,
      first: 0,
      length: 8,
      body: (async function* () {
        yield [Buffer.from(text)]
      })(),
    })
    const { json } = await consumer().hub.call('POST', '/api/v1/jobs', {
      body: { command: ['true'], files: [{ path: 'sub/a.py', sha256, size: 8 }] },
    })
    const files = await consumer().call('GET', `/api/jobs/${json.jobs[0].id}/files`)
    expect(files.bytes.includes('sub/a.py')).toBe(true)
    const bare = await consumer().hub.call('POST', '/api/v1/jobs', { body: { command: ['true'] } })
    expect((await consumer().call('GET', `/api/jobs/${bare.json.jobs[0].id}/files`)).status).toBe(404)
  })
})
