import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { TestGateway } from './test-gateway.ts'
import { GPUS, nodesOf } from './test-nodes.ts'

let gateway: TestGateway
beforeEach(async () => {
  gateway = await TestGateway.open()
})
afterEach(() => gateway.close())
const { register, poll, say, leave, stateOf, remarksOn, runner } = nodesOf(() => gateway)

describe('a node', () => {
  it('registers, gets a job whose files are in place, and reports its end', async () => {
    await register('n', { max: 2, gpus: GPUS })
    const id = await gateway.submit({ command: 'true', resources: { gpus: 1, cpus: 2 } })
    const { json } = await gateway.call('GET', '/api/workers/jobs?worker_id=n')
    expect(json).toEqual({ jobs: [{ job_id: id, resources: { gpu: 1, cpu: 1 }, training: { script: 'train.py' } }] })
    expect(await readdir(join(gateway.projects, id))).toEqual(['stoker.json', 'train.py', 'work'])
    expect(await poll('n')).toEqual([])
    await say('n', id, 'running')
    expect(await gateway.job(id)).toMatchObject({ state: 'active', attemptState: 'running', isolation: 'none' })
    await say('n', id, 'completed', { exit_codes: [0], duration: 10.02 })
    expect(await gateway.job(id)).toMatchObject({ state: 'succeeded', exitCode: 0 })
    await say('n', id, 'running')
    await say('n', id, 'failed', { exit_codes: [3] })
    expect(await stateOf(id)).toBe('succeeded')
  })

  it('that fails tells its exit code or signal', async () => {
    await register('n', { max: 2 })
    const [first, second] = [await gateway.submit(), await gateway.submit()]
    expect(await poll('n')).toEqual([first, second])
    await say('n', first, 'failed', { exit_codes: [3], duration: 10 })
    await say('n', second, 'failed', { exit_codes: [-9], duration: 10 })
    expect(await gateway.job(first)).toMatchObject({ state: 'failed', exitCode: 3, error: 'exited with code 3' })
    expect(await gateway.job(second)).toMatchObject({ state: 'failed', signal: 'SIGKILL', error: 'killed by SIGKILL' })
  })

  it('whose `running` was lost began as long ago as it says', async () => {
    await register('n')
    const id = await gateway.submit()
    await poll('n')
    await say('n', id, 'completed', { exit_codes: [0], duration: 0 })
    const { startedAt, endedAt } = await gateway.job(id)
    expect(startedAt).not.toBeNull()
    expect(startedAt).toBeLessThanOrEqual(endedAt ?? 0)
  })

  it.each([
    ['two GPUs', { command: 'x', resources: { gpus: 2 } }],
    ['more GPUs than it has free', { command: 'x', resources: { gpus: 1, gpuMemory: '80GB' } }],
    ['a container', { image: 'a:1' }],
    ['secrets', { command: 'x', secrets: ['S'] }],
    ['a program it does not have', { type: 'training' as const }],
    ['a sandbox', { command: 'x', isolation: 'sandbox' as const }],
  ])('never gets a job that needs %s', async (_, spec) => {
    await gateway.engine.execute({ kind: 'setSecret', owner: 'ada', name: 'S', bytes: 1, sealed: 'x' })
    await register('n', { max: 4, gpus: [...GPUS, { gpu_id: 1, name: 'NVIDIA A100', memory_mb: 40_960 }] })
    await gateway.submit(spec)
    expect(await poll('n')).toEqual([])
  })

  it('with a Docker daemon gets nothing, until the operator says so', async () => {
    await register('n', { docker: true })
    const id = await gateway.submit()
    expect(await poll('n')).toEqual([])
    const settings = { body: { allow_docker: true } }
    expect((await gateway.call('PUT', '/api/workers/n/settings', settings)).status).toBe(403)
    const token = await gateway.aToken('admin', 'root')
    const answer = await gateway.call('PUT', '/api/workers/n/settings', { ...settings, token })
    expect(answer.json).toEqual({ worker_id: 'n', trust_gpus: true, allow_docker: true })
    expect(await poll('n')).toEqual([id])
  })

  it('shares no job with another that polls at the same instant', async () => {
    await Promise.all(['a', 'b', 'c'].map(id => register(id, { max: 8 })))
    const ids = await Promise.all(Array.from({ length: 12 }, () => gateway.submit()))
    const given = (await Promise.all(['a', 'b', 'c'].map(poll))).flat()
    expect(given.toSorted()).toEqual(ids.toSorted())
  })

  it('is heard by any call, also one nobody knows, which is taken with one slot and no GPU', async () => {
    const [first, second] = [await gateway.submit(), await gateway.submit()]
    await gateway.submit({ command: 'x', resources: { gpus: 1 } })
    expect(await poll('w/ x')).toEqual([first])
    await say('w/ x', first, 'running')
    await register('w/ x', { max: 4, gpus: GPUS })
    expect(await stateOf(first)).toBe('queued')
    expect((await poll('w/ x')).toSorted()).toContain(second)
  })

  it('that registers again has nothing any more of what it had', async () => {
    await register('n', { max: 2 })
    const id = await gateway.submit()
    await poll('n')
    await say('n', id, 'running')
    await register('n', { max: 2 })
    expect(await poll('n')).toEqual([`${id}.2`])
    await say('n', id, 'completed', { exit_codes: [0] })
    expect(await stateOf(id)).toBe('active')
    await say('n', `${id}.2`, 'completed', { exit_codes: [0] })
    expect(await gateway.job(id)).toMatchObject({ state: 'succeeded', attempts: 2, failures: 0 })
  })

  it('that leaves gives back what it had, without a failure', async () => {
    await register('n', { max: 2 })
    const ids = [await gateway.submit(), await gateway.submit()]
    await poll('n')
    for (const id of ids) await say('n', id, 'running')
    await say('n', ids[0] ?? '', 'cancelled')
    expect((await leave('n')).status).toBe(200)
    for (const id of ids) expect(await gateway.job(id)).toMatchObject({ state: 'queued', failures: 0 })
    expect((await leave('nobody')).status).toBe(200)
  })

  it('made for one process is forgotten when it leaves', async () => {
    await register('worker_box7_4711')
    await leave('worker_box7_4711')
    expect(await gateway.engine.read(state => state.workers.size)).toBe(0)
  })
})

describe('folders of projects', () => {
  it('hold the files of the job, and go when their time is over', async () => {
    await gateway.close()
    gateway = await TestGateway.open({ keepProjectsMs: 0 })
    await register('n', { max: 3 })
    const files = [await gateway.aFile('data/in.csv', 'a,b\n')]
    const id = await gateway.submit({ type: 'custom_script', input: { script: 'print(1)', args: ['x'] }, files })
    expect(await poll('n')).toEqual([id])
    const work = join(gateway.projects, id, 'work')
    expect(await readFile(join(work, 'data/in.csv'), 'utf8')).toBe('a,b\n')
    expect(await readFile(join(work, 'script.py'), 'utf8')).toBe('print(1)')
    expect((await (await runner(id))('start')).json.command).toEqual([null, 'script.py', 'x'])
    await say('n', id, 'running')
    await gateway.pass(60)
    expect(await readdir(gateway.projects)).toEqual([id])
    await say('n', id, 'completed', { exit_codes: [0] })
    await gateway.pass(30)
    expect(await readdir(gateway.projects)).toEqual([id])
    await gateway.pass(60)
    expect(await readdir(gateway.projects)).toEqual([])
  })

  it('that cannot be made fail the job with the reason', async () => {
    await register('n')
    const files = [{ ...(await gateway.aFile('.', 'no archive')), unpack: 'zip' as const }]
    const id = await gateway.submit({ command: 'x', files })
    expect(await poll('n')).toEqual([])
    expect(await gateway.job(id)).toMatchObject({ state: 'failed', error: expect.stringContaining('input "."') })
    expect(await readdir(gateway.projects)).toEqual([])
  })
})

it('flags two live workers under one id', async () => {
  await register('n', { max: 2 })
  for (let n = 0; n < 3; n += 1) {
    await poll('n')
    await gateway.pass(1)
  }
  expect(await remarksOn('n')).toContain('two live workers seem to use this id')
  await gateway.pass(600)
  expect(await remarksOn('n')).toBeNull()
})
