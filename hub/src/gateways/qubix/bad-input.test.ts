import { afterAll, beforeAll, expect, it } from 'vitest'
import { GatewayHouse } from '../test-gateway-house.ts'
import { opensQubix, SPECS, TestProvider } from './test-contract-worker.ts'

let house: GatewayHouse
let worker: TestProvider
let job: string
beforeAll(async () => {
  house = await GatewayHouse.open(opensQubix)
  worker = await TestProvider.join(house, 'one')
  job = await house.submit({ type: 'custom_script', input: { script: 'x' } })
  await worker.receive()
})
afterAll(() => house.close())

const W = () => worker.workerId

it.each<[string, string, string, unknown, number, RegExp]>([
  ['no body', 'POST', '/api/providers/register', undefined, 400, /the body/],
  ['no JSON', 'POST', '/api/providers/register', '{"worker_id":', 400, /no JSON/],
  ['a list', 'POST', '/api/providers/register', [], 400, /expected object/],
  ['nobody', 'POST', '/api/providers/register', { name: 'x' }, 400, /workerId: missing/],
  ['an id that is none', 'POST', '/api/providers/register', { worker_id: 7 }, 400, /worker_id/],
  [
    'two ids',
    'POST',
    '/api/providers/register',
    { worker_id: 'a', workerId: 'b' },
    400,
    /workerId is b, worker_id is a/,
  ],
  [
    'a price in words',
    'POST',
    '/api/providers/register',
    { worker_id: 'a', pricePerHour: 'five' },
    400,
    /pricePerHour/,
  ],
  ['a debt', 'POST', '/api/providers/register', { worker_id: 'a', pricePerHour: -1 }, 400, /pricePerHour/],
  [
    'a heartbeat of another',
    'POST',
    '/api/providers/WID/heartbeat',
    { workerId: 'b' },
    400,
    /the path names worker .* the body b/,
  ],
  ['a heartbeat that is no JSON', 'POST', '/api/providers/WID/heartbeat', 'beat', 400, /no JSON/],
  ['progress of nobody', 'POST', '/api/jobs/JOB/progress', { progress: 1 }, 400, /workerId: missing/],
  ['progress without a figure', 'POST', '/api/jobs/JOB/progress', { workerId: 'WID' }, 400, /progress/],
  ['progress in words', 'POST', '/api/jobs/JOB/progress', { workerId: 'WID', progress: 'half' }, 400, /progress/],
  [
    'progress of a stranger',
    'POST',
    '/api/jobs/JOB/progress',
    { workerId: 'x', progress: 1 },
    403,
    /no worker is registered/,
  ],
  [
    'progress of no job',
    'POST',
    '/api/jobs/unknown/progress',
    { workerId: 'WID', progress: 1 },
    404,
    /no job has the id unknown/,
  ],
  ['an end of nobody', 'POST', '/api/jobs/JOB/complete', { status: 'completed' }, 400, /workerId: missing/],
  ['an end that is none', 'POST', '/api/jobs/JOB/complete', { workerId: 'WID', status: 'done' }, 400, /status/],
  ['an end without a word', 'POST', '/api/jobs/JOB/complete', { workerId: 'WID' }, 400, /status/],
  [
    'an end of no job',
    'POST',
    '/api/jobs/01890000-0000-7000-8000-000000000000/complete',
    { workerId: 'WID', status: 'failed' },
    404,
    /no job/,
  ],
  ['no route', 'DELETE', '/api/jobs/JOB', undefined, 404, /no such route: DELETE/],
  ['a broken path', 'GET', '/api/jobs/pending/%zz', undefined, 400, /not a valid url/],
])('%s is told apart: %s %s', async (_, method, path, body, status, error) => {
  const named = (text: string) => text.replaceAll('WID', W()).replaceAll('JOB', job)
  const sent = body === undefined ? undefined : named(typeof body === 'string' ? body : JSON.stringify(body))
  const answer = await worker.call(method, named(path), sent)
  expect(answer).toMatchObject({ status, json: { success: false, error: expect.stringMatching(error) } })
  expect((await house.job(job)).state).toBe('active')
})

it('reads what it can of a machine that says odd things of itself', async () => {
  const specs = { ...SPECS, cpu_cores: 'eight', ram_total_gb: 1e300, gpu_vram_gb: -1, hostname: null, os: 'a\nb' }
  const other = await TestProvider.join(house, 'odd')
  expect((await other.register({ specs, name: null, capabilities: 'all', gpus: 7 })).status).toBe(200)
  const facts = await house.engine.read(state => state.workers.get(other.id)?.facts)
  expect(facts).toMatchObject({
    name: expect.stringMatching(/^Provider-/),
    cpusMilli: 1000,
    memoryMb: 0,
    hardware: { cores: 0, memoryBytes: 0, hostname: 'unknown', os: 'a b', gpus: [{ memoryMb: 0 }] },
  })
})

it('takes bodies of four megabytes, and not of any size', async () => {
  const stderr = 'x'.repeat(5_000_000)
  const big = await worker.report(job, 'progress', { progress: 1, logLines: [stderr] })
  expect(big.status).toBe(200)
  const huge = await worker.report(job, 'progress', { progress: 1, currentOperation: 'x'.repeat(9_000_000) })
  expect(huge).toMatchObject({ status: 413, json: { success: false } })
})
