import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { TestWorker } from '../../../api/test-worker.ts'
import { joinProvider, openTestConsumer, type TestConsumer } from './test-consumer.ts'

let consumer: TestConsumer
let fast: TestWorker
let cheap: TestWorker
/** Milliseconds by which time was helped along. */
let passed = 0
beforeAll(async () => {
  consumer = await openTestConsumer({ now: () => Date.now() + passed })
  const { hub } = consumer
  fast = await joinProvider(hub, {
    name: 'fast',
    tags: ['price:8', 'location:Berlin'],
    gpus: [{ model: 'NVIDIA GeForce RTX 4090', vramGb: 24 }],
  })
  cheap = await joinProvider(hub, {
    name: 'cheap',
    tags: ['price:1', 'location:US East'],
    gpus: [{ model: 'NVIDIA GeForce RTX 3070', vramGb: 8 }],
    ramGb: 16,
  })
  await joinProvider(hub, { name: 'plain', ramGb: 8 })
})
afterAll(async () => {
  expect(consumer.faults).toEqual([])
  await consumer.close()
})

interface Offer {
  readonly provider: { readonly name: string }
  readonly compatibility: string
}
const names = (offers: readonly Offer[]) => offers.map(({ provider }) => provider.name)
const post = async (path: string, body: object) => (await consumer.call('POST', path, { body })).json

describe('the list of providers', () => {
  it('has exactly the keys the Python SDK takes', async () => {
    const { json } = await consumer.call('GET', '/api/providers', { headers: { 'x-user-id': 'sdk' } })
    expect(json).toHaveLength(3)
    for (const provider of json)
      expect(Object.keys(provider)).toEqual([
        'id',
        'address',
        'computePower',
        'pricePerHour',
        'reputation',
        'totalJobs',
        'isActive',
        'createdAt',
        'updatedAt',
      ])
    expect(json.find(({ id }: { id: string }) => id === fast.id)).toMatchObject({
      computePower: 80 + 24 * 50,
      pricePerHour: 8,
      totalJobs: 0,
      isActive: true,
    })
  })

  it.each([
    ['gpuModel=rtx%204090', ['fast']],
    ['minVram=8', ['fast', 'cheap']],
    ['maxVram=8', ['cheap', 'plain']],
    ['minPrice=1&maxPrice=2', ['cheap']],
    ['location=berlin', ['fast']],
    ['availability=offline', []],
    ['availability=available', ['fast', 'cheap', 'plain']],
  ])('is filtered by %s', async (query, expected) => {
    const { json } = await consumer.call('GET', `/api/providers?details=true&${query}`)
    expect(json.map(({ name }: { name: string }) => name)).toEqual(expected)
  })

  it.each(['minVram=x', 'maxPrice=-1', 'availability=maybe', 'details=perhaps'])('refuses %s', async query => {
    expect((await consumer.call('GET', `/api/providers?${query}`)).status).toBe(400)
  })

  it('shows one by its id or name, and 404 for others', async () => {
    const { json } = await consumer.call('GET', '/api/providers/fast')
    expect(json).toMatchObject({
      id: fast.id,
      gpuModel: 'RTX 4090',
      gpuVram: 24,
      location: 'Berlin',
      status: 'available',
    })
    expect((await consumer.call('GET', '/api/providers/slow')).status).toBe(404)
  })

  it('counts what a provider completed, before it was asked and after', async () => {
    const done = async () => {
      const wish = { modelType: 'generic', computeNeeded: 1, providerId: 'cheap' }
      const { job } = await post('/api/jobs/create', wish)
      await cheap.ended(await cheap.placed(job.id))
    }
    const counted = async () => (await consumer.call('GET', `/api/providers/${cheap.id}`)).json.totalJobs
    const before = await counted()
    await done()
    await done()
    expect(await counted()).toBe(before + 2)
    const later = await openTestConsumer()
    const its = await joinProvider(later.hub, { name: 'its' })
    const wish = { modelType: 'generic', computeNeeded: 1 }
    const { json } = await later.call('POST', '/api/jobs/create', { body: wish })
    await its.ended(await its.placed(json.job.id))
    expect((await later.call('GET', '/api/providers')).json[0].totalJobs).toBe(1)
    await later.close()
  })

  it('is paused and resumed by its owner or an admin', async () => {
    const owner = await consumer.hub.token('worker', 'ada')
    const eve = await consumer.hub.token('worker', 'eve')
    const say = (verb: string, token: string) => consumer.call('POST', `/api/providers/plain/${verb}`, { token })
    expect((await say('pause', eve)).status).toBe(403)
    const { status, json } = await say('pause', owner)
    expect([status, json.provider.isActive]).toEqual([200, false])
    expect((await say('resume', consumer.hub.admin)).json.provider.isActive).toBe(true)
  })
})

describe('a match', () => {
  it('ranks providers with what fits, how long, for how much', async () => {
    const found = await post('/api/providers/match', { jobType: 'stable_diffusion' })
    expect(Object.keys(found)).toEqual(
      expect.arrayContaining(['success', 'compatibleGPUs', 'recommendations', 'totalAvailable', 'totalCompatible']),
    )
    expect([found.totalAvailable, found.totalCompatible]).toEqual([3, 1])
    expect(names(found.recommendations)).toEqual(['fast'])
    expect(found.compatibleGPUs[0]).toMatchObject({
      compatibility: 'recommended',
      estimatedDuration: 300,
      estimatedDurationFormatted: '5m',
      estimatedCost: expect.closeTo(0.666667, 5),
      warnings: [],
    })
    const [, second] = found.compatibleGPUs
    expect(second.warnings.join()).toMatch(/needs 12 GB of GPU memory/)
  })

  it('looks at memory alone for what runs on a CPU too, and says so', async () => {
    const found = await post('/api/providers/match', { modelType: 'mnist_training', sortBy: 'price_low' })
    expect(names(found.compatibleGPUs)).toEqual(['plain', 'cheap', 'fast'])
    expect(found.compatibleGPUs[0]).toMatchObject({ compatibility: 'borderline' })
    expect(found.compatibleGPUs[0].warnings.join()).toMatch(/runs on a CPU too/)
  })

  it('is raised by what is known better, never lowered', async () => {
    const ask = (estimatedRAM: number) =>
      post('/api/providers/match', { jobAnalysis: { jobType: 'mnist_training', estimatedRAM } })
    expect((await ask(1)).requirements.ramGb).toBe(8)
    expect((await ask(60)).totalCompatible).toBe(1)
  })

  it('leaves out who asks too much or cannot compute it', async () => {
    const dear = await post('/api/providers/match', { modelType: 'generic', maxPrice: 2 })
    const fastOne = dear.compatibleGPUs.find(({ provider }: Offer) => provider.name === 'fast')
    expect(fastOne).toMatchObject({ compatibility: 'insufficient' })
    expect(fastOne.warnings.join()).toMatch(/asks for 8 an hour, at most 2/)
    const nothing = await post('/api/providers/match', { modelType: 'rendering' })
    expect(nothing.totalCompatible).toBe(0)
    expect(nothing.compatibleGPUs[0].warnings.join()).toMatch(/nothing here computes/)
  })

  it.each([{}, { modelType: 'generic', sortBy: 'luck' }, { modelType: 3 }, { requirements: { estimatedVRAM: -1 } }])(
    'refuses %j',
    async body => expect((await consumer.call('POST', '/api/providers/match', { body })).status).toBe(400),
  )
})

describe('an estimate', () => {
  it('is by the provider, its GPU and its price', async () => {
    const { estimate } = await post('/api/jobs/estimate', { modelType: 'mnist_training', providerId: 'fast' })
    expect(estimate).toMatchObject({
      estimatedDuration: 120,
      confidence: 'high',
      basis: 'benchmark',
      pricePerHour: 8,
      priceSource: 'provider',
      modelMultiplier: 1,
      gpuModel: 'RTX 4090',
    })
    expect(Date.parse(estimate.estimatedCompletionTime)).toBeGreaterThan(Date.now() + 60_000)
  })

  it('is by the hours that are asked for where nothing is known', async () => {
    const { estimate } = await post('/api/jobs/estimate', { modelType: 'training', computeNeeded: 2, maxPrice: 3 })
    expect(estimate).toMatchObject({
      computeHours: 2,
      pricePerHour: 3,
      modelMultiplier: 3,
      estimatedCost: 18,
      estimatedDuration: 7200,
      confidence: 'low',
    })
  })

  it('learns from five jobs that ended here and can be believed', async () => {
    const { hub } = consumer
    for (let i = 0; i < 10; i += 1) {
      const wish = {
        modelType: 'inference',
        computeNeeded: 1,
        providerId: 'cheap',
        inputData: { model: 'm', input: 'i' },
      }
      const { job } = await post('/api/jobs/create', wish)
      const fence = await cheap.placed(job.id)
      const at = Date.now()
      await cheap.report({ kind: 'running', fence, at, isolation: 'none' })
      await cheap.ended(fence, { at, startedAt: at - 7000, result: { unverified: i < 5 } })
      const { estimate } = await post('/api/jobs/estimate', { modelType: 'inference', gpuModel: 'RTX 3070' })
      expect(estimate.basis, `after ${i + 1} runs`).toBe(i < 9 ? 'benchmark' : 'measured')
      passed += 10_000
    }
    const [row] = await hub.store.queries
      .page({ owner: null, states: null, type: 'inference', worker: null, name: null, labels: [] }, null, 1)
      .then(({ rows }) => rows)
    expect(row?.gpus).toContain('cheap-0')
    const { estimate } = await post('/api/jobs/estimate', { modelType: 'llm-inference', providerId: 'cheap' })
    expect(estimate).toMatchObject({ basis: 'measured', confidence: 'high' })
    expect(estimate.estimatedDuration).toBeLessThan(100)
    const { estimate: other } = await post('/api/jobs/estimate', { modelType: 'llm-inference', providerId: 'fast' })
    expect(other).toMatchObject({ basis: 'benchmark', estimatedDuration: 60 })
  })

  it.each([
    [{}, 400],
    [{ modelType: 'x', computeNeeded: 0 }, 400],
    [{ modelType: 'x', providerId: 'no' }, 404],
  ])('refuses %j', async (body, status) => {
    expect((await consumer.call('POST', '/api/jobs/estimate', { body })).status).toBe(status)
  })
})

describe('an analysis', () => {
  const analyze = (name: string, text: string) => {
    const body = new FormData()
    body.append('file', new Blob([text]), name)
    return consumer.call('POST', '/api/jobs/analyze', { body })
  }

  it('tells what a script needs', async () => {
    const { status, json } = await analyze('train.py', 'import tensorflow\nfrom keras.datasets import mnist\n')
    expect([status, json]).toEqual([
      200,
      {
        success: true,
        fileName: 'train.py',
        analysis: {
          jobType: 'mnist_training',
          detectedFramework: 'tensorflow',
          estimatedVRAM: 5,
          estimatedCompute: 6,
          estimatedRAM: 10,
          estimatedStorage: 2,
          confidence: 'high',
        },
      },
    ])
  })

  it('looks at the code of a notebook, and takes long files a piece at a time', async () => {
    const cells = [{ cell_type: 'code', source: ['import torch'] }]
    const { json } = await analyze('a.ipynb', JSON.stringify({ cells }))
    expect(json.analysis.detectedFramework).toBe('pytorch')
    const long = await analyze('long.py', `import jax\n${'#'.repeat(12_000_000)}`)
    expect(long.json.analysis.detectedFramework).toBe('jax')
  })

  it('goes back into a job', async () => {
    const { json } = await analyze('train.py', 'import torch\nmodel.fit()')
    const wish = { modelType: 'custom_script', computeNeeded: 1, inputData: { script: 'x' } }
    const { job } = await post('/api/jobs/create', { ...wish, jobAnalysis: json.analysis })
    const row = await consumer.hub.store.queries.jobById(job.id)
    expect(JSON.parse(row?.spec ?? '{}').resources).toMatchObject({ gpus: 1, gpuMemoryBytes: 8e9, memoryBytes: 16e9 })
  })

  it('refuses other files, other bodies and forms that break off', async () => {
    expect((await analyze('model.bin', 'x')).json.error).toMatch(/Python.*notebooks.*Dockerfiles/)
    expect((await analyze('a.ipynb', 'no json')).status).toBe(400)
    const type = (value: string) => ({ 'content-type': value })
    const send = (body: string, headers: Record<string, string>) =>
      consumer.call('POST', '/api/jobs/analyze', { body, headers })
    expect((await send('{}', type('application/json'))).status).toBe(415)
    expect((await send('--x', type('multipart/form-data'))).status).toBe(400)
    const begun = '--x\r\nContent-Disposition: form-data; name="file"; filename="a.py"\r\n\r\nimport'
    expect((await send(begun, type('multipart/form-data; boundary=x'))).status).toBe(400)
    expect((await send('--x--\r\n', type('multipart/form-data; boundary=x'))).status).toBe(400)
  })
})
