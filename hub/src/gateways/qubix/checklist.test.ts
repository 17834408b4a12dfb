import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GatewayHouse } from '../test-gateway-house.ts'
import { ENHANCED_USAGE, opensQubix, SIMPLE_USAGE, SPECS, TestProvider } from './test-contract-worker.ts'

const SCRIPT = { type: 'custom_script', input: { script: 'print(1)' } } as const
const UNREPORTED = 'Failed to report completion: timed out'

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
const idOf = async (of: TestProvider) => (await of.poll()).json[0]?.id as string | undefined
const unreported = (job: string) => worker.report(job, 'complete', { status: 'failed', error: UNREPORTED })

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

describe('a poll', () => {
  it('is a bare list, empty for whom nobody knows', async () => {
    expect(await worker.poll()).toEqual({ status: 200, json: [] })
    expect(await worker.call('GET', '/api/jobs/pending/nobody')).toEqual({ status: 200, json: [] })
  })

  it('gives an object without nulls, the same one until it was begun', async () => {
    const id = await house.submit({ type: 'custom_script', input: { script: 'x', greeting: null } })
    const [job] = (await worker.poll()).json
    expect(job).toEqual({
      id,
      jobType: 'custom_script',
      modelType: 'custom_script',
      computeNeeded: 1,
      inputData: { script: 'x' },
      status: 'ASSIGNED',
    })
    const other = await TestProvider.join(house, 'two')
    expect((await other.poll()).json).toEqual([])
    expect((await worker.poll()).json).toEqual([job])
    expect((await worker.beat()).json.pendingJobs).toEqual([job])
    await house.restart()
    expect((await worker.poll()).json).toEqual([job])
    expect(await house.job(id)).toMatchObject({ attempts: 1, worker: worker.id })
  })

  it('by the holder of a job it had begun closes that attempt and counts a new one, three at most', async () => {
    const id = await house.submit(SCRIPT)
    for (const attempts of [1, 2, 3]) {
      expect(await idOf(worker)).toBe(id)
      expect((await house.job(id)).attempts).toBe(attempts)
      await worker.progress(id, 10)
    }
    expect(await idOf(worker)).toBeUndefined()
    expect(await house.job(id)).toMatchObject({
      state: 'failed',
      lost: 3,
      reason: expect.stringContaining('interrupted'),
    })
  })

  it('makes a worker an enhanced one: no other ever polls', async () => {
    await worker.register()
    await worker.beat({ usage: SIMPLE_USAGE })
    await worker.poll()
    expect((await known())?.facts.version).toBe('enhanced')
  })
})

describe('which jobs a worker gets', () => {
  it('are never scripts, digits or pictures for the simple one, and others only where the customer allows it', async () => {
    await worker.register()
    await worker.beat({ usage: SIMPLE_USAGE })
    await house.submit(SCRIPT)
    for (const type of ['mnist_training', 'stable_diffusion'] as const)
      await house.submit({ type, placement: { unverified: true } })
    await house.submit({ type: 'training' })
    const beat = () => worker.beat({ usage: SIMPLE_USAGE })
    expect((await beat()).json.pendingJobs).toEqual([])
    const id = await house.submit({ type: 'training', input: { epochs: 2 }, placement: { unverified: true } })
    expect((await beat()).json.pendingJobs).toMatchObject([{ id, modelType: 'training', inputData: { epochs: 2 } }])
  })

  it.each([
    ['arguments', { ...SCRIPT, input: { script: 'x', args: ['a'] } }],
    ['an environment', { ...SCRIPT, env: { A: 'b' } }],
    ['outputs', { ...SCRIPT, outputs: ['*.txt'] }],
    ['a sandbox', { ...SCRIPT, isolation: 'sandbox' as const }],
    ['no network', { ...SCRIPT, network: 'none' as const }],
    ['two GPUs', { ...SCRIPT, resources: { gpus: 2 } }],
    ['a model', { type: 'inference' as const, placement: { unverified: true } }],
  ])('are none for the enhanced one that need %s', async (_, spec) => {
    await house.submit(spec)
    expect((await worker.poll()).json).toEqual([])
  })

  it('of ours, that says what it can do, are those', async () => {
    await worker.register({ capabilities: ['custom_script', 'mnist_training', 'magic'], gpus: [] })
    const { foreign } = (await known())?.facts.abilities ?? {}
    expect(foreign).toEqual({
      dialect: 'qubix',
      types: { custom_script: 'verified', mnist_training: 'verified' },
      uses: ['env'],
      maxGpus: 0,
    })
    const id = await house.submit({ ...SCRIPT, env: { A: 'b' }, timeout: 60, network: 'internet' })
    const [job] = (await worker.poll()).json
    expect(job.inputData).toEqual({ script: 'print(1)', env: { A: 'b' }, timeoutSeconds: 60, network: 'internet' })
    await worker.running(id)
    expect((await worker.poll()).json).toEqual([job])
    expect((await house.job(id)).attempts).toBe(1)
  })

  it('fail at once when they ask for what makes such workers fail', async () => {
    const id = await house.submit({ type: 'training', input: { epochs: 0 }, placement: { unverified: true } })
    expect((await worker.poll()).json).toEqual([])
    expect(await house.job(id)).toMatchObject({ state: 'failed', error: expect.stringContaining('input.epochs is 0') })
  })
})

describe('a lease', () => {
  it.each([
    ['a script', SCRIPT, 300],
    ['pictures', { type: 'stable_diffusion', placement: { unverified: true } } as const, 1800],
    ['a job that says so', { ...SCRIPT, lostAfter: 20 }, 20],
  ])('of %s ends without progress, and its job goes to others first', async (_, spec, seconds) => {
    const id = await house.submit(spec)
    await worker.poll()
    await worker.progress(id, 5)
    await house.pass(seconds * 1000 - 1)
    expect((await house.job(id)).state).toBe('active')
    await house.pass(1)
    expect(await house.job(id)).toMatchObject({ state: 'queued', lost: 1 })
    expect((await worker.poll()).json).toEqual([])
    const other = await TestProvider.join(house, 'two')
    expect(await idOf(other)).toBe(id)
  })

  it('goes back to the same worker when nobody else wants the job', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    await house.pass(300_000)
    await house.pass(71_000)
    expect(await idOf(worker)).toBe(id)
    expect((await house.job(id)).attempts).toBe(2)
  })

  it('ends with the time its job may take', async () => {
    const id = await house.submit({ ...SCRIPT, timeout: 60 })
    await worker.poll()
    await worker.progress(id, 5)
    await house.pass(60_000)
    expect((await house.job(id)).state).toBe('timed_out')
    expect((await worker.report(id, 'progress', { progress: 9 })).json).toEqual({ success: true, cancel: true })
  })

  it('makes a silent worker busy; without one it is away after 90 seconds, until any request', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    await house.pass(200_000)
    expect((await known())?.connected).toBe(true)
    await worker.complete(id, {})
    await house.pass(89_000)
    expect((await known())?.connected).toBe(true)
    await house.pass(1000)
    expect((await known())?.connected).toBe(false)
    await worker.report(id, 'progress', { progress: 1 })
    expect((await known())?.connected).toBe(true)
  })
})

describe('progress', () => {
  it('is clamped, counts up only, and starts the job with its first value between 0 and 100', async () => {
    const id = await house.submit({ type: 'training', placement: { unverified: true } })
    await worker.poll()
    await worker.progress(id, -3)
    expect((await house.job(id)).attemptState).toBe('leased')
    await worker.progress(id, 30)
    await house.pass(30_000)
    const { seq, attemptState } = await house.job(id)
    expect(attemptState).toBe('running')
    expect((await worker.report(id, 'progress', { progress: 60, currentOperation: 'epoch 2' })).json).toEqual({
      success: true,
      timeRemaining: 20,
    })
    await worker.progress(id, 20)
    expect(house.board.job(seq)?.progress).toMatchObject({ percent: 60, operation: 'at it' })
    await worker.progress(id, 900)
    expect(house.board.job(seq)?.progress?.percent).toBe(100)
  })

  it('keeps the lines that come with it', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    const logLines = ['plain', { level: 'error', message: 'bad' }, { level: 'info', message: 'good\n' }]
    await worker.report(id, 'progress', { progress: 10, logLines })
    expect(await house.output(id, 'stdout')).toBe('plain\ngood\n')
    expect(await house.output(id, 'stderr')).toBe('bad\n')
  })

  it('of a job nobody has claims it, of one that another has is refused', async () => {
    const id = await house.submit(SCRIPT)
    expect((await worker.report(id, 'progress', { progress: 1 })).status).toBe(200)
    expect(await house.job(id)).toMatchObject({ worker: worker.id, attemptState: 'running' })
    const other = await TestProvider.join(house, 'two')
    expect((await other.report(id, 'progress', { progress: 1 })).status).toBe(403)
    const heavy = await house.submit({ ...SCRIPT, resources: { gpus: 2 } })
    expect(await other.report(heavy, 'progress', { progress: 1 })).toMatchObject({
      status: 403,
      json: { success: false, error: expect.stringContaining('needs 2 GPUs') },
    })
  })
})

describe('an end', () => {
  it('keeps result, averages and output, and says what it knows of time and money', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    await worker.progress(id, 20)
    await house.pass(13_000)
    const result = { status: 'success', exitCode: 0, stdout: ['a', 'b', ''], stderr: ['w'] }
    const { json } = await worker.complete(id, result, { metrics: { processingTimeSeconds: 1 } })
    expect(json).toEqual({
      success: true,
      job: { id, status: 'COMPLETED', completedAt: expect.any(String), actualDuration: 13, actualCost: 0 },
      payment: { amount: 0, status: 'none' },
    })
    const row = await house.job(id)
    expect(row).toMatchObject({ state: 'succeeded', exitCode: 0 })
    expect(JSON.parse(row.result ?? '')).toEqual({ ...result, metrics: { processingTimeSeconds: 1 } })
    expect([await house.output(id, 'stdout'), await house.output(id, 'stderr')]).toEqual(['a\nb\n', 'w\n'])
  })

  it('that failed keeps the reason, the exit code and the trace', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    const error = 'Script failed with exit code 3: boom'
    await worker.report(id, 'complete', { status: 'failed', result: { error, errorDetails: 'Traceback: x' }, error })
    expect(await house.job(id)).toMatchObject({ state: 'failed', error, exitCode: 3 })
    expect(await house.output(id, 'stderr')).toBe('Traceback: x\n')
  })

  it('of a job nobody has claims it, and of an attempt whose lease is over counts until another has the job', async () => {
    const [claimed, late] = [await house.submit(SCRIPT), await house.submit(SCRIPT)]
    expect((await worker.complete(claimed, {})).json.job.status).toBe('COMPLETED')
    await worker.poll()
    await house.pass(300_000)
    expect((await house.job(late)).state).toBe('queued')
    expect((await worker.complete(late, {})).json.job.status).toBe('COMPLETED')
    expect((await house.job(late)).attempts).toBe(1)
  })

  it('of a job that was canceled, or has failed, is a duplicate that changes nothing; the worker is free then', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    await house.cancel(id)
    expect((await house.job(id)).state).toBe('canceled')
    expect((await worker.report(id, 'progress', { progress: 50 })).json).toEqual({ success: true, cancel: true })
    expect((await worker.complete(id, {})).json).toEqual({ success: true, duplicate: true })
    expect((await house.job(id)).state).toBe('canceled')
    await worker.beat()
    const next = await house.submit(SCRIPT)
    expect(await idOf(worker)).toBe(next)
  })

  it('that failed and is retried is not taken twice', async () => {
    const id = await house.submit({ ...SCRIPT, retries: { max: 1, backoff: { initial: 1, max: 1 } } })
    await worker.poll()
    await worker.fail(id, 'once')
    expect((await worker.report(id, 'complete', { status: 'failed', error: 'once' })).json.duplicate).toBe(true)
    await house.pass(1000)
    expect((await worker.report(id, 'complete', { status: 'failed', error: 'once' })).json.duplicate).toBe(true)
    expect(await house.job(id)).toMatchObject({ state: 'queued', failures: 1 })
  })

  it('of which only the report failed may still become a success, within 30 seconds and through a restart', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    await worker.progress(id, 50)
    expect((await unreported(id)).status).toBe(200)
    await worker.beat()
    expect((await worker.poll()).json).toEqual([])
    await house.pass(29_000)
    await house.restart()
    await house.pass(29_000)
    expect((await unreported(id)).json).toEqual({ success: true, duplicate: true })
    expect((await worker.complete(id, { answer: 1 })).json.job.status).toBe('COMPLETED')
    expect(await house.job(id)).toMatchObject({ state: 'succeeded', attempts: 1 })
  })

  it('of which only the report failed is another attempt after 30 seconds', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    await unreported(id)
    await house.pass(30_000)
    expect(await house.job(id)).toMatchObject({ state: 'queued', lost: 1, failures: 0 })
    expect(await idOf(worker)).toBe(id)
  })

  it('with made-up results, or addresses of which the hub has no bytes, is marked as unverified', async () => {
    const id = await house.submit({ type: 'mnist_training', placement: { unverified: true } })
    await worker.poll()
    await worker.complete(id, { modelUrl: 'ipfs://Qm0', simulated: true, finalAccuracy: 97.5 })
    const result = JSON.parse((await house.job(id)).result ?? '')
    expect(result).toMatchObject({ finalAccuracy: 0.975, unverified: true })
    expect(result.unverifiedBecause).toHaveLength(3)
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
