import { sha256 } from '@stoker/files'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { put } from '../../../api/test-uploads.ts'
import type { TestWorker } from '../../../api/test-worker.ts'
import { joinProvider, openTestConsumer, type TestConsumer } from './test-consumer.ts'

let consumer: TestConsumer
let worker: TestWorker
let ann: string
beforeAll(async () => {
  consumer = await openTestConsumer()
  worker = await joinProvider(consumer.hub, { name: 'big', tags: ['price:4', 'location:Berlin'] })
  ann = await consumer.hub.token('submit', 'ann')
})
afterAll(async () => {
  expect(consumer.faults).toEqual([])
  await consumer.close()
})

const SCRIPT = { modelType: 'custom_script', computeNeeded: 0.5, inputData: { script: 'print(1)' } }
const create = (body: object, headers = {}) =>
  consumer.call('POST', '/api/jobs/create', { token: ann, body: { ...SCRIPT, ...body }, headers })
const get = (path: string, token = ann) => consumer.call('GET', path, { token })

it('is well without a token', async () => {
  const { status, json } = await consumer.call('GET', '/health', { token: null })
  expect([status, json]).toEqual([200, { status: 'ok' }])
})

describe('creating a job', () => {
  it('answers with the job, what its price lists say, and that no money moves', async () => {
    const { status, json } = await create({ maxPrice: 5, qubicAddress: 'ADDRESS' })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      success: true,
      estimatedCost: 2.5,
      message: expect.stringContaining('no money'),
      job: { modelType: 'custom_script', computeNeeded: 0.5, userId: 'ADDRESS', inputData: { script: 'print(1)' } },
    })
    expect(['PENDING', 'ASSIGNED']).toContain(json.job.status)
  })

  it.each([
    [{ modelType: undefined }, 400, /modelType/],
    [{ modelType: '' }, 400, /modelType/],
    [{ computeNeeded: undefined }, 400, /computeNeeded/],
    [{ computeNeeded: 0 }, 400, /computeNeeded/],
    [{ computeNeeded: -1 }, 400, /computeNeeded/],
    [{ computeNeeded: 'much' }, 400, /computeNeeded/],
    [{ modelType: 'fold proteins', inputData: {} }, 400, /nothing here computes.*mnist_training/],
    [{ inputData: {} }, 400, /No script content or URL provided/],
    [{ inputData: { scriptUrl: 'file:///etc/passwd' } }, 400, /scriptUrl/],
    [{ inputData: { script: 'x', timeoutSeconds: -1 } }, 400, /timeoutSeconds/],
    [{ inputData: { script: 'x', network: 'lan' } }, 400, /network/],
    [{ inputData: { script: 'x', env: { A: 1 } } }, 400, /env/],
    [{ inputData: [] }, 400, /inputData/],
    [{ modelType: 'training', inputData: { epochs: 2 } }, 400, /inputData\.dataset: missing/],
    [{ modelType: 'inference', inputData: { input: 'x' } }, 400, /inputData\.model: missing/],
    [{ modelType: 'fine-tuning', inputData: { dataset: 'x' } }, 400, /baseModel: missing/],
    [{ modelType: 'mnist_training', inputData: { epochs: 0 } }, 400, /epochs: found 0/],
    [{ providerId: 'nobody' }, 404, /no provider/],
    [{ providerId: 'big', maxPrice: 1 }, 400, /asks for 4 an hour, maxPrice is 1/],
    [{ advancedConfig: { outputDestination: 'ipfs' } }, 400, /outputDestination/],
    [{ advancedConfig: { turbo: true } }, 400, /turbo/],
    [{ advancedConfig: { entryPoint: 'x' } }, 400, /without dockerImage/],
    [{ inputData: { script: 'x'.repeat(300_000) } }, 413, /scriptUrl/],
  ])('refuses %j with %d', async (body, status, error) => {
    const { status: got, json } = await create(body)
    expect([got, json.success]).toEqual([status, false])
    expect(json.error).toMatch(error)
  })

  it('refuses bodies that are no JSON or no object', async () => {
    for (const body of ['{', '3', '"x"', 'null', '[]', '']) {
      const { status, json } = await consumer.call('POST', '/api/jobs/create', { body })
      expect([status, json.success], body).toEqual([400, false])
    }
  })

  it('is done once for one key, wherever the job could run by then', async () => {
    const headers = { 'idempotency-key': 'once' }
    const first = await create({ maxPrice: 9 }, headers)
    const second = await create({ maxPrice: 9 }, headers)
    expect(second.json.job.id).toBe(first.json.job.id)
    expect((await create({ maxPrice: 8 }, headers)).status).toBe(409)
  })

  it('keeps a job from providers that ask for more, and says why it waits', async () => {
    const { json } = await create({ maxPrice: 3 })
    expect(json.job.status).toBe('PENDING')
    expect(json.message).toMatch(/waits for a provider/)
    expect((await get(`/api/jobs/${json.job.id}`)).json.reason).toMatch(/exclude|big/)
  })

  it('goes to the provider that was asked for', async () => {
    const { json } = await create({ providerId: 'big', maxPrice: 4 })
    await worker.placed(json.job.id)
    expect((await get(`/api/jobs/${json.job.id}`)).json).toMatchObject({ providerId: worker.id, status: 'ASSIGNED' })
  })

  it('takes the shorter form of submit, with its user', async () => {
    const body = { modelType: 'training', dataset: 'digits', computeNeeded: 1, budget: 7 }
    const headers = { 'x-user-id': 'user-7' }
    const { status, json } = await consumer.call('POST', '/api/jobs/submit', { token: ann, body, headers })
    expect([status, json.jobId]).toEqual([200, json.job.id])
    expect(json.job).toMatchObject({
      userId: 'user-7',
      budget: 7,
      jobType: 'training',
      inputData: { dataset: 'digits' },
    })
    const { json: jobs } = await get('/api/jobs/user/user-7')
    expect(jobs.map(({ id }: { id: string }) => id)).toEqual([json.jobId])
    expect((await get('/api/jobs/user/ann')).json.length).toBeGreaterThan(1)
    expect((await get('/api/jobs/user/nobody')).json).toEqual([])
  })
})

describe('a job', () => {
  it('is followed from its lines to its result', async () => {
    const { json } = await create({})
    const id = json.job.id
    const fence = await worker.placed(id)
    await worker.running(fence)
    consumer.hub.board.put(worker.id, {
      t: 'live',
      at: Date.now(),
      host: { cpuPercent: 50, memoryUsedBytes: 4e9, memoryTotalBytes: 8e9, load1: 1, netRxBytes: 0, netTxBytes: 0 },
      gpus: [],
      attempts: [
        {
          fence,
          progress: { percent: 25, operation: 'epoch 1', metrics: {} },
          cpus: null,
          memoryBytes: null,
        },
      ],
    })
    await worker.output(fence, 'stdout', '{"event":"progress","percent":25}\nhello\nWARNING: warm\n')
    await worker.output(fence, 'stderr', 'ERROR: hot\n{"event":"logs","log":"not an event here"}\nlast')
    expect((await get(`/api/jobs/${id}`)).json).toMatchObject({
      status: 'RUNNING',
      progress: 25,
      currentOperation: 'epoch 1',
    })
    const { json: monitor } = await get(`/api/jobs/${id}/monitor`)
    expect(monitor).toMatchObject({
      success: true,
      progress: 25,
      costSoFar: 0,
      metrics: { latest: { cpuPercent: 50, ramTotalGb: 8, gpuUtilization: null }, history: [{ cpuPercent: 50 }] },
    })
    expect(monitor.timeRemaining).toBeGreaterThanOrEqual(0)
    const texts = (logs: { message: string }[]) => logs.map(({ message }) => message)
    const all = ['hello', 'WARNING: warm', 'ERROR: hot', '{"event":"logs","log":"not an event here"}', 'last']
    expect(texts(monitor.logs)).toEqual(all)
    expect((await get(`/api/jobs/${id}/metrics?timeRange=60`)).json.metrics.history).toHaveLength(1)
    expect(texts((await get(`/api/jobs/${id}/logs?limit=2`)).json.logs)).toEqual(all.slice(-2))
    expect(texts((await get(`/api/jobs/${id}/logs?level=error`)).json.logs)).toEqual(['ERROR: hot'])
    const { json: page } = await get(`/api/jobs/${id}/logs?offset=1&limit=2`)
    expect([texts(page.logs), page.hasMore]).toEqual([all.slice(1, 3), true])
    expect((await get(`/api/jobs/${id}/logs?offset=3&limit=9`)).json).toMatchObject({ hasMore: false })
    await worker.ended(fence, { result: { status: 'success', exitCode: 0 } })
    expect((await get(`/api/jobs/${id}`)).json).toMatchObject({
      status: 'COMPLETED',
      progress: 100,
      result: { status: 'success', exitCode: 0 },
    })
  })

  it('names what it left by addresses where the bytes are', async () => {
    const { hub } = consumer
    const id = (await create({})).json.job.id
    const fence = await worker.placed(id)
    const bytes = Buffer.from('weights')
    const path = `/api/v1/attempts/${fence.job}-${fence.epoch}-${fence.attempt}/blobs/${sha256(bytes)}`
    const headers = { authorization: `Worker ${worker.id}:${worker.secret}` }
    expect((await put(hub, bytes, { path, headers })).status).toBe(201)
    const left = { sha256: sha256(bytes), size: bytes.length, executable: false }
    const artifacts = [
      { path: 'outputs/my model.pt', ...left },
      { path: 'a.png', ...left },
    ]
    const result = { modelUrl: 'my model.pt', images: ['a.png'], checkpointUrl: null }
    await worker.ended(fence, { artifacts, result })
    const { json } = await get(`/api/jobs/${id}`)
    expect(json.artifacts.map(({ name, contentType }: Record<string, string>) => [name, contentType])).toEqual([
      ['a.png', 'image/png'],
      ['my model.pt', 'application/octet-stream'],
    ])
    expect(json.result).toEqual({
      modelUrl: `/api/jobs/${id}/artifacts/outputs/my%20model.pt`,
      images: [`/api/jobs/${id}/artifacts/a.png`],
      checkpointUrl: null,
    })
    const file = await get(json.result.modelUrl)
    expect([file.status, file.text]).toEqual([200, 'weights'])
    expect((await get(`/api/jobs/${id}/artifacts/outputs/other`)).status).toBe(404)
  })

  it('that failed says why', async () => {
    const { json } = await create({})
    const fence = await worker.placed(json.job.id)
    await worker.ended(fence, { outcome: 'failed', exitCode: 1, error: 'Script failed with exit code 1' })
    expect((await get(`/api/jobs/${json.job.id}`)).json).toMatchObject({
      status: 'FAILED',
      error: expect.stringContaining('exit code 1'),
    })
    const { status, json: refused } = await consumer.call('POST', `/api/jobs/${json.job.id}/cancel`, { token: ann })
    expect([status, refused.success]).toEqual([409, false])
  })

  it('is cancelled whether it waits or runs, and twice does no harm', async () => {
    const waiting = (await create({ maxPrice: 3 })).json.job.id
    const running = (await create({})).json.job.id
    const fence = await worker.placed(running)
    await worker.running(fence)
    for (const id of [waiting, running, waiting, running]) {
      const { status, json } = await consumer.call('POST', `/api/jobs/${id}/cancel`, { token: ann })
      expect([status, json.success]).toEqual([200, true])
    }
    expect((await get(`/api/jobs/${waiting}`)).json.status).toBe('CANCELLED')
    expect((await get(`/api/jobs/${running}`)).json).toMatchObject({ status: 'RUNNING', cancelRequested: true })
    await worker.ended(fence, { outcome: 'canceled', exitCode: null })
    expect((await get(`/api/jobs/${running}`)).json.status).toBe('CANCELLED')
  })

  it('is its owner’s', async () => {
    const { json } = await create({})
    const bob = await consumer.hub.token('submit', 'bob')
    for (const [method, tail] of [
      ['GET', ''],
      ['GET', '/monitor'],
      ['GET', '/metrics'],
      ['GET', '/logs'],
      ['GET', '/artifacts/x'],
      ['POST', '/cancel'],
    ] as const) {
      const path = `/api/jobs/${json.job.id}${tail}`
      expect((await consumer.call(method, path, { token: bob })).status, path).toBe(404)
    }
    expect((await get('/api/jobs/user/ann', bob)).json).toEqual([])
    expect((await consumer.call('GET', `/api/jobs/${json.job.id}`)).status).toBe(200)
  })

  it.each(['/monitor', '/metrics?timeRange=0', '/logs?level=loud', '/logs?limit=0', '/logs?offset=-1', ''])(
    'with a wrong question or no id is refused: %s',
    async tail => {
      const { json } = await create({})
      const isQuery = tail.includes('?')
      const path = `/api/jobs/${isQuery ? json.job.id : 'nothing'}${tail}`
      const { status, json: refused } = await get(path)
      expect([status, refused.success]).toEqual([isQuery ? 400 : 404, false])
    },
  )
})
