import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GatewayHouse } from '../test-gateway-house.ts'
import { ENHANCED_USAGE, opensQubix, SIMPLE_USAGE, SPECS, TestProvider } from './test-contract-worker.ts'

const SCRIPT = { type: 'custom_script', input: { script: 'print(1)' } } as const

let house: GatewayHouse
let worker: TestProvider
beforeEach(async () => {
  house = await GatewayHouse.open(opensQubix)
  worker = await TestProvider.join(house, 'one')
})
afterEach(() => house.close())

const known = (id = worker.id) =>
  house.engine.read(state => {
    const found = state.workers.get(id)
    return found === undefined ? null : { facts: found.facts, connected: found.connected, active: found.active.size }
  })

describe('registration', () => {
  it('is an upsert that takes any address, whole and broken numbers, and keys nobody knows', async () => {
    const first = await worker.register({ address: '?', computePower: 7, pricePerHour: 2, surprise: { a: 1 } })
    expect(first).toEqual({ status: 200, json: { success: true, provider: { id: worker.id } } })
    expect((await worker.register({ name: 'renamed' })).json.provider.id).toBe(worker.id)
    expect(await house.engine.read(state => state.workers.size)).toBe(1)
    expect((await known())?.facts).toMatchObject({
      name: 'renamed',
      tags: ['qubix', 'location:US East (Virginia)'],
      hardware: { cores: 8, hostname: 'pc1', gpus: [{ name: 'RTX 4090', memoryMb: 24_576 }] },
      abilities: { note: expect.stringContaining('asks 5 an hour') },
    })
  })

  it('tells workers with the same weak id apart by their tokens', async () => {
    const other = await TestProvider.join(house, 'one')
    expect(other.workerId).toBe(worker.workerId)
    expect(other.id).not.toBe(worker.id)
  })

  it('believes a card that is also named when there is none only once measurements agree', async () => {
    const specs = { ...SPECS, worker_id: worker.workerId, gpu_model: 'NVIDIA GeForce MX150', gpu_vram_gb: 4.0 }
    await worker.register({ specs: { ...specs, cpu_model: 'Intel Core i7-8550U' } })
    expect((await known())?.facts.hardware).toMatchObject({
      gpus: [],
      cpuModel: 'Intel Core i7-8550U (unverified)',
      gpuNote: expect.stringContaining('MX150 with 4 GB'),
    })
    await worker.beat({ usage: { ...SIMPLE_USAGE, gpuMemTotalMb: 24_564, gpuPercent: 1 } })
    expect((await known())?.facts.hardware.gpus).toEqual([])
    await worker.beat({ usage: { ...SIMPLE_USAGE, gpuMemTotalMb: 4042, gpuPercent: 1 } })
    expect((await known())?.facts.hardware.gpus).toMatchObject([{ name: 'MX150', memoryMb: 4096 }])
  })

  it('of the client library, by address alone, answers with exactly its nine keys', async () => {
    const body = { address: 'QX', computePower: 10, pricePerHour: 1 }
    const { json } = await worker.call('POST', '/api/providers/register', body)
    const keys = ['id', 'address', 'computePower', 'pricePerHour', 'reputation', 'totalJobs', 'isActive']
    expect(Object.keys(json.provider).toSorted()).toEqual([...keys, 'createdAt', 'updatedAt'].toSorted())
  })
})

describe('a heartbeat', () => {
  it('of an id nobody knows makes it known, with hardware unknown, and serves it', async () => {
    const id = 'ffffffffffffffff'
    const path = `/api/providers/${id}/heartbeat`
    const body = { workerId: id, status: 'online', currentJob: null, usage: ENHANCED_USAGE }
    const job = await house.submit(SCRIPT)
    expect(await worker.call('POST', path, body)).toMatchObject({ status: 200, json: { pendingJobs: [{ id: job }] } })
  })

  it('revives a worker that was removed', async () => {
    await house.engine.execute({ kind: 'removeWorker', worker: worker.id })
    expect((await worker.beat()).status).toBe(200)
    expect((await known())?.connected).toBe(true)
  })

  it('tells by the memory in use which kind of worker it is, once after each registration', async () => {
    expect((await known())?.facts).toMatchObject({ version: 'enhanced' })
    await worker.beat({ usage: SIMPLE_USAGE })
    expect((await known())?.facts).toMatchObject({ version: 'enhanced' })
    await worker.register()
    await worker.beat({ usage: SIMPLE_USAGE })
    expect((await known())?.facts).toMatchObject({ version: 'simple' })
  })

  it('right after an end gets nothing and leases nothing: its sender does not read the answer', async () => {
    const [first, second] = [await house.submit(SCRIPT), await house.submit(SCRIPT)]
    await worker.poll()
    await worker.complete(first, {})
    await house.restart()
    expect((await worker.beat()).json.pendingJobs).toEqual([])
    expect((await house.job(second)).state).toBe('queued')
    expect((await worker.beat()).json.pendingJobs).toMatchObject([{ id: second }])
  })

  it('of a process that has just begun is read, whatever the one before it reported', async () => {
    const [first, second] = [await house.submit(SCRIPT), await house.submit(SCRIPT)]
    await worker.poll()
    await worker.complete(first, {})
    await worker.register()
    expect((await worker.beat()).json.pendingJobs).toMatchObject([{ id: second }])
  })

  it('that is busy, or names the job, extends the lease; one with empty hands never brings a second job', async () => {
    const id = await house.submit(SCRIPT)
    await house.submit(SCRIPT)
    await worker.poll()
    await worker.running(id)
    for (const words of [{ status: 'busy' }, { currentJob: id }, { current_job: id, currentJob: undefined }]) {
      await house.pass(200_000)
      expect((await worker.beat(words)).json.pendingJobs).toEqual([])
    }
    expect((await house.job(id)).state).toBe('active')
    await house.pass(200_000)
    await worker.beat({ currentJob: 'another' })
    await house.pass(101_000)
    expect((await house.job(id)).state).toBe('queued')
  })

  it('shows the load of the machine, and only what was measured', async () => {
    await worker.beat({ usage: { ...ENHANCED_USAGE, gpuPercent: 37, gpuTemp: 0 } })
    expect(house.board.samplesOf(worker.id).at(-1)).toMatchObject({
      host: { cpuPercent: 12.5, load1: null, netRxBytes: null },
      gpus: [{ utilization: 37, temperatureC: null, memoryUsedMb: null }],
    })
  })
})

describe('who speaks', () => {
  it('is one of so many at most, known ones always', async () => {
    for (const name of ['two', 'three', 'four', 'five']) await TestProvider.join(house, name)
    const sixth = await TestProvider.join(house, 'six')
    expect((await sixth.register()).json.error).toContain('5 QUBIX workers are known, at most 5 may be')
    expect((await sixth.beat()).status).toBe(429)
    expect((await worker.beat()).status).toBe(200)
  })

  const bare = (path: string, headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = request({ port: house.port, host: '127.0.0.1', path, headers, agent: false }, answer => {
        answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
      })
      sent.on('error', reject).end()
    })
  const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`w:${token}`).toString('base64')}` })

  it('is known by Basic credentials and by /t/TOKEN, also behind doubled slashes', async () => {
    const path = `/api/jobs/pending/${worker.workerId}`
    expect(await bare(path, basic(worker.token))).toBe(200)
    expect(await bare(`/${path}`, basic(worker.token))).toBe(200)
    expect(await bare(`/t/${worker.token}/${path}`, {})).toBe(200)
    expect(await bare(path, {})).toBe(401)
    expect(await bare(path, basic('wrong'))).toBe(401)
    expect(await bare(path, basic(await house.token('submit')))).toBe(403)
  })

  it('may send far more than two requests a second, and not everything', async () => {
    const answers = await Promise.all(Array.from({ length: 420 }, () => worker.poll()))
    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter(status => status === 200).length).toBeGreaterThanOrEqual(390)
    expect(statuses).toContain(429)
    const other = await TestProvider.join(house, 'two')
    expect((await other.poll()).status).toBe(200)
  })

  it('under the id of another machine that has a job is told to the operator, gets nothing and ends nothing', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    await worker.running(id)
    await house.submit(SCRIPT)
    expect((await worker.register({ specs: { ...SPECS, hostname: 'pc2' } })).status).toBe(200)
    expect(house.logged).toEqual([expect.stringMatching(/^warn: qubix: pc2 registers as worker .* which is pc1/)])
    expect((await worker.beat()).json.pendingJobs).toEqual([])
    expect((await worker.poll()).json).toEqual([])
    expect((await known())?.facts).toMatchObject({
      hardware: { hostname: 'pc1' },
      abilities: { note: expect.stringContaining('WARNING: pc2') },
    })
    await worker.complete(id, {})
    expect((await house.job(id)).state).toBe('succeeded')
  })
})
