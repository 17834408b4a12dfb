import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackArchive } from '@stoker/files'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { writeZip } from '../../../../files/src/archives/test-archives.ts'
import { conversationOf, expectGolden } from '../test-conversation.ts'
import { LinkBench } from '../test-link-bench.ts'
import { TrainforgeHub } from '../test-trainforge-hub.ts'
import { makeTrainforge, type TrainforgeChoices } from '../test-trainforge-worker.ts'

let hub: TrainforgeHub
let choices: TrainforgeChoices
let bench: LinkBench
const open = async (manner: 'workers' | 'claims' = 'workers') => {
  hub = new TrainforgeHub(manner)
  await hub.open()
  bench = new LinkBench(parts => makeTrainforge(hub, parts, choices))
}
beforeEach(() => {
  choices = {}
})
afterEach(async () => {
  await bench.remove()
  await hub.close()
})
const soon = (check: () => void) => vi.waitFor(check, { timeout: 15_000, interval: 10 })
const FOR_EVER = `import time\nprint('begun', flush=True)\nwhile True: time.sleep(0.05)`

describe('getting in', () => {
  it('registers in both forms at once', async () => {
    await open()
    await bench.start()
    await soon(() => expect(hub.registered).toHaveLength(1))
    expect(hub.registered[0]).toMatchObject({
      ...{ worker_id: 'gpu node/1', status: 'idle', worker_info: { worker_id: 'gpu node/1', gpus: [], cpu_count: 4 } },
      capabilities: { max_concurrent_jobs: 2, supports_gpu: false, supports_docker: false, gpu_count: 0 },
    })
  })

  it.each([400, 401, 403])('stops with the reason when it is answered %i', async status => {
    await open()
    hub.instead.set(/register$/, { status, json: { error: 'no room for you' } })
    await bench.start()
    await soon(() => expect(bench.refusals).toHaveLength(1))
    expect(bench.refusals[0]).toContain('no room for you')
  })

  it('beats by its id where that is the only way', async () => {
    await open('claims')
    await bench.start()
    await soon(() => expect(hub.beats.length).toBeGreaterThan(1))
    expect(hub.beats[0]).toMatchObject({ worker_id: 'gpu node/1', gpu_status: { total_gpus: 0, gpus: {} } })
  })

  it('registers again where no beat is known', async () => {
    await open()
    await bench.start()
    await soon(() => expect(hub.beats.length).toBeGreaterThan(0))
    hub.instead.set(/heartbeat$/, { status: 404, json: {} })
    await soon(() => expect(hub.registered.length).toBeGreaterThan(1))
  })
})

describe('what cannot start', () => {
  it('is given back at once to a hub of ours, with the reason', async () => {
    await open()
    hub.isOurs = true
    hub.offerProject('a', { 'train.py': '' }, { resources: { gpu: 1, cpu: 1 } })
    await bench.start()
    await soon(() => expect(hub.reports('a')).toHaveLength(1))
    expect(hub.reports('a')).toMatchObject([{ status: 'declined', reason: 'it needs 1 GPU, this worker has 0' }])
  })

  it('fails at others, with the reason', async () => {
    await open()
    hub.offerProject('a', { 'train.py': '' }, { resources: { gpu: 1, cpu: 1 } })
    await bench.start()
    await soon(() => expect(hub.reports('a')).toHaveLength(1))
    expect(hub.reports('a')).toMatchObject([{ status: 'failed', error_message: 'it needs 1 GPU, this worker has 0' }])
  })

  it('waits a while for a place that others have', async () => {
    await open()
    hub.offerProject('a', { 'train.py': `${FOR_EVER}` }, { resources: { gpu: 0, cpu: 3 } })
    await bench.start()
    await soon(() => expect(hub.reports('a')).toMatchObject([{ status: 'running' }]))
    hub.offerProject('b', { 'train.py': '' }, { resources: { gpu: 0, cpu: 3 } })
    await soon(() => expect(hub.ends('b')).toHaveLength(1))
    expect(hub.reports('b')).toMatchObject([{ status: 'failed', error_message: 'it needs 3 CPUs, 1 are free now' }])
    hub.offerProject('c', { 'train.py': '' }, { resources: { gpu: 0, cpu: 1 } })
    await soon(() => expect(hub.ends('c')).toMatchObject([{ outcome: 'completed' }]))
    hub.cancel('a')
    await soon(() => expect(hub.ends('a')).toHaveLength(1))
  })

  it('is left to whoever claimed it first', async () => {
    await open('claims')
    hub.offerProject('a', { 'train.py': `open(${JSON.stringify(bench.marks)}, 'a').write('x')` })
    hub.instead.set(/\/a\/claim$/, { status: 409, json: { success: false } })
    await bench.start()
    await soon(() => expect(hub.http.calls.filter(({ path }) => path.endsWith('/claim')).length).toBeGreaterThan(1))
    expect({ marks: bench.marksMade, reports: hub.reports('a') }).toEqual({ marks: '', reports: [] })
  })
})

describe('the project', () => {
  it('is taken from a folder of this machine where the hub has none, and stays as it is', async () => {
    await open()
    const shared = join(bench.root, 'shared', 'a')
    await mkdir(join(shared, 'data'), { recursive: true })
    await writeFile(join(shared, 'main.py'), `print(open('data/x').read())\nopen('out', 'w').write('1')`)
    await writeFile(join(shared, 'data', 'x'), 'from disk')
    hub.offerProject('a', null, { training: {} })
    await bench.start()
    await soon(() => expect(hub.ends('a')).toMatchObject([{ outcome: 'completed' }]))
    expect(hub.output('a')).toBe('from disk')
    expect((await readdir(shared)).sort()).toEqual(['data', 'main.py'])
  })

  it('is nowhere: the job fails with all places that were looked at', async () => {
    await open()
    hub.offerProject('../a', null)
    await bench.start()
    await soon(() => expect(hub.ends('../a')).toHaveLength(1))
    expect(hub.ends('../a')[0]?.error).toContain('its project is nowhere: the hub answered 404, and none of')
  })

  it.each([
    ['a web page', Buffer.from('<html>')],
    ['a zip that leads outside', null],
  ])('is refused when it is %s', async (_, bytes) => {
    await open()
    hub.offerProject('a', { 'train.py': '' })
    const slip = [{ name: 'train.py' }, { name: '../x.py' }]
    const body = bytes ?? (await readFile(await writeZip(join(bench.root, 'slip.zip'), slip)))
    hub.instead.set(/\/a\/files$/, { status: 200, body })
    await bench.start()
    await soon(() => expect(hub.ends('a')).toMatchObject([{ outcome: 'failed', exitCode: null }]))
    expect(hub.reports('a')).toHaveLength(1)
  })

  it('gives back what its program wrote, without what it was given', async () => {
    await open('claims')
    hub.offerProject('a', { 'train.py': `import os\nos.makedirs('out')\nopen('out/m', 'w').write('w')`, data: 'x' })
    await bench.start()
    await soon(() => expect(hub.ends('a')).toMatchObject([{ outcome: 'completed' }]))
    const form = hub.results('a') ?? Buffer.alloc(0)
    expect(form.toString('latin1')).toContain('name="results_zip"')
    const folder = await mkdtemp(join(tmpdir(), 'stoker-results-'))
    const zip = form.subarray(form.indexOf('\r\n\r\n') + 4, form.lastIndexOf('\r\n--'))
    await writeFile(join(folder, 'r.zip'), zip)
    await unpackArchive(join(folder, 'r.zip'), 'zip', join(folder, 'r'))
    expect((await readdir(join(folder, 'r'), { recursive: true })).sort()).toEqual(['out', 'out/m'])
    await rm(folder, { recursive: true })
    expect(await readdir(join(bench.root, 'projects'))).toEqual([])
  })
})

it.each(['workers', 'claims'] as const)('says what it always said to a scheduler with %s', async manner => {
  await open(manner)
  choices = { times: { heartbeatMs: 3_600_000, logsMs: 3_600_000, checkMs: 3_600_000 } }
  await bench.start()
  await soon(() => expect(hub.beats).toHaveLength(1))
  hub.offerProject('job-1', { 'train.py': `print('hello')\nopen('out.txt', 'w').write('weights')` })
  await soon(() => expect(hub.ends('job-1')).toHaveLength(1))
  hub.offerProject('job 2', { 'train.py': `raise SystemExit('no luck')` })
  await soon(() => expect(hub.ends('job 2')).toHaveLength(1))
  await bench.shutDown()
  const isCheck = ({ method, path }: { readonly method: string; readonly path: string }) =>
    method === 'GET' && /^\/api\/jobs\/job[^/]*$/.test(path)
  const said = conversationOf(hub.http.calls.filter(call => !isCheck(call)))
  expectGolden(new URL(`golden/${manner}.json`, import.meta.url), said)
})
