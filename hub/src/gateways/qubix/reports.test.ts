import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GatewayHouse } from '../test-gateway-house.ts'
import { opensQubix, TestProvider } from './test-contract-worker.ts'

const SCRIPT = { type: 'custom_script', input: { script: 'print(1)' } } as const
const UNREPORTED = 'Failed to report completion: timed out'

let house: GatewayHouse
let worker: TestProvider
beforeEach(async () => {
  house = await GatewayHouse.open(opensQubix)
  worker = await TestProvider.join(house, 'one')
})
afterEach(() => house.close())

const idOf = async (of: TestProvider) => (await of.poll()).json[0]?.id as string | undefined
const unreported = (job: string) => worker.report(job, 'complete', { status: 'failed', error: UNREPORTED })

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

  it('brings lines that the end lists once more, and that are kept once', async () => {
    const id = await house.submit(SCRIPT)
    await worker.poll()
    await worker.report(id, 'progress', { progress: 10, logLines: ['a', 'b'] })
    await worker.complete(id, { status: 'success', exitCode: 0, stdout: ['b', ''], stderr: ['w'] })
    expect([await house.output(id, 'stdout'), await house.output(id, 'stderr')]).toEqual(['a\nb\n', 'w\n'])
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
