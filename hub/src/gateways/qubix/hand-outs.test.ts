import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GatewayHouse } from '../test-gateway-house.ts'
import { opensQubix, SIMPLE_USAGE, TestProvider } from './test-contract-worker.ts'

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
const idOf = async (of: TestProvider) => (await of.poll()).json[0]?.id as string | undefined

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
