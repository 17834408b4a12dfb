import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestGateway } from './test-gateway.ts'
import { GPUS, nodesOf } from './test-nodes.ts'

let gateway: TestGateway
beforeEach(async () => {
  gateway = await TestGateway.open()
})
afterEach(() => gateway.close())
const { register, poll, say, stateOf, remarksOn } = nodesOf(() => gateway)

describe('an offer nothing comes of', () => {
  it('goes back to the queue and to another worker, and is told with the likely reasons in the end', async () => {
    await register('n', { max: 2 })
    const id = await gateway.submit()
    expect(await poll('n')).toEqual([id])
    await gateway.pass(5)
    expect(await poll('n')).toEqual([])
    await gateway.pass(2)
    expect(await stateOf(id)).toBe('queued')
    expect(await gateway.earlier(id)).toMatchObject([{ outcome: 'declined' }])
    expect(await poll('n')).toEqual([])
    await register('other')
    expect(await poll('other')).toEqual([`${id}.2`])
  })

  it('is offered again one at a time, ever more seldom, and the worker says why that may be', async () => {
    await register('n', { max: 4 })
    const ids = [await gateway.submit(), await gateway.submit()]
    expect(await poll('n')).toEqual(ids)
    for (let round = 0; round < 3; round += 1) {
      await gateway.pass(5)
      await poll('n')
      await gateway.pass(2)
      await gateway.pass(10)
      expect((await poll('n')).length).toBeLessThanOrEqual(1)
    }
    expect(await remarksOn('n')).toContain('likely: no core below 70 %')
  })

  it('may still begin late, as long as nobody else has it', async () => {
    await register('n', { max: 2 })
    const id = await gateway.submit()
    await poll('n')
    await gateway.pass(5)
    await poll('n')
    await gateway.pass(1)
    await say('n', id, 'running')
    await gateway.pass(10)
    expect(await gateway.job(id)).toMatchObject({ state: 'active', attempts: 1 })
  })

  it('is declined at once by a worker that says so', async () => {
    await register('n')
    const id = await gateway.submit()
    await poll('n')
    await say('n', id, 'declined', { reason: 'no python here' })
    expect(await gateway.earlier(id)).toMatchObject([{ outcome: 'declined', error: 'no python here' }])
  })
})

describe('a completion that was never told', () => {
  it('is found by polls of a worker with one slot', async () => {
    await register('n')
    const id = await gateway.submit()
    await poll('n')
    await say('n', id, 'running')
    for (let n = 0; n < 2; n += 1) {
      await poll('n')
      await gateway.pass(5)
    }
    expect(await stateOf(id)).toBe('active')
    await poll('n')
    expect(await gateway.earlier(id)).toMatchObject([{ outcome: 'lost', error: expect.stringContaining('report') }])
  })

  it('is found by heartbeats that count fewer jobs', async () => {
    await register('n', { max: 4 })
    const id = await gateway.submit()
    await poll('n')
    await say('n', id, 'running')
    for (let n = 0; n < 3; n += 1) {
      const body = { worker_id: 'n', active_jobs: 0, max_jobs: 4, cpu_status: null, gpu_status: { gpus: {} } }
      expect((await gateway.call('POST', '/api/workers/heartbeat', { body })).status).toBe(200)
      await gateway.pass(30)
    }
    expect(await stateOf(id)).toBe('queued')
  })

  it('leaves all in doubt when nobody can tell which one it is', async () => {
    await register('n', { max: 2 })
    const ids = [await gateway.submit(), await gateway.submit()]
    await poll('n')
    for (const id of ids) await say('n', id, 'running')
    for (let n = 0; n < 4; n += 1) {
      await poll('n')
      await gateway.pass(5)
    }
    for (const id of ids) expect(await stateOf(id)).toBe('active')
    expect(await remarksOn('n')).toContain('one of these ended without a report')
  })
})

describe('silence', () => {
  it('of a worker with a free slot loses its jobs, and a late report brings one back', async () => {
    await register('n', { max: 4 })
    const id = await gateway.submit()
    await poll('n')
    await say('n', id, 'running')
    await gateway.pass(89)
    expect(await stateOf(id)).toBe('active')
    await gateway.pass(1)
    expect(await stateOf(id)).toBe('queued')
    await say('n', id, 'completed', { exit_codes: [0], duration: 95 })
    expect(await gateway.job(id)).toMatchObject({ state: 'succeeded', attempts: 1 })
  })

  it('of a full worker is work', async () => {
    await register('n', { gpus: GPUS })
    const id = await gateway.submit()
    await poll('n')
    await say('n', id, 'running')
    await gateway.pass(3600)
    expect(await stateOf(id)).toBe('active')
    expect(await gateway.engine.read(state => state.workers.get('trainforge:n')?.connected)).toBe(true)
    await gateway.pass(12 * 3600)
    expect(await stateOf(id)).toBe('queued')
  })

  it('of a worker without work makes it away, until it calls', async () => {
    await register('n')
    const isThere = () => gateway.engine.read(state => state.workers.get('trainforge:n')?.connected)
    await gateway.pass(90)
    expect(await isThere()).toBe(false)
    await poll('n')
    expect(await isThere()).toBe(true)
  })
})

describe('after a restart of the hub', () => {
  it('running jobs go on, workers need not register, and everything has its full time', async () => {
    await register('n', { max: 2 })
    const id = await gateway.submit()
    await poll('n')
    await say('n', id, 'running')
    await gateway.pass(80)
    await gateway.restart()
    await gateway.pass(80)
    expect(await stateOf(id)).toBe('active')
    await say('n', id, 'completed', { exit_codes: [0] })
    expect(await gateway.job(id)).toMatchObject({ state: 'succeeded', attempts: 1 })
  })

  it('an offer that was given out is settled by a poll only of a worker with one slot', async () => {
    await register('one')
    await register('two', { max: 2 })
    const first = await gateway.submit()
    expect(await poll('one')).toEqual([first])
    const second = await gateway.submit()
    expect(await poll('two')).toEqual([second])
    await gateway.restart()
    for (const id of ['one', 'two']) await poll(id)
    await gateway.pass(20)
    expect(await gateway.earlier(first)).toMatchObject([{ outcome: 'declined' }])
    expect(await gateway.job(second)).toMatchObject({ state: 'active', attempts: 1 })
    await say('two', second, 'completed', { exit_codes: [0] })
    expect(await stateOf(second)).toBe('succeeded')
  })
})
