import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { freePort } from '@stoker/net'
import type { JobSpecInput } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { House } from './harness/house.ts'
import { becomes, countsOf, ended, logOf, prints } from './harness/jobs.ts'
import { OldWorkers } from './harness/trainforge.ts'

let house: House
let old: OldWorkers
let hub: ChildProgram
let port: number
beforeEach(async () => {
  house = await House.open()
  port = await freePort()
  hub = await startHub()
  old = await OldWorkers.of(house)
})
afterEach(() => house.close())

const startHub = () => house.startHub({ args: ['--trainforge-port', String(port), '--trainforge-open'] })
const scheduler = () => `http://127.0.0.1:${port}`

/** Says a line, waits a little, and gives its number as its result. */
function numbered(number: number): JobSpecInput {
  const finish = JSON.stringify({ event: 'finish', status: 'completed', result: { number } })
  return { command: `echo line ${number}; sleep 0.2; echo '${finish}'`, resources: { cpus: 0.1 } }
}

const GATE = (name: string) => `until test -e ${house.path(name)}; do sleep 0.05; done`

it('a hundred jobs end once each, with their results, though the hub is killed twice', async () => {
  for (const id of ['one', 'two']) await old.node(`${scheduler()}/`, id, ['--max-jobs', '4'])
  const specs = Array.from({ length: 100 }, (_, number) => numbered(number))
  const jobs = await house.client.submitMany(specs)
  for (const enough of [20, 60]) {
    const done = async () => (await countsOf(house.client)).succeeded ?? 0
    await expect.poll(done, { timeout: 60_000, interval: 50 }).toBeGreaterThanOrEqual(enough)
    await hub.kill()
    hub = await startHub()
  }
  await expect.poll(() => countsOf(house.client), { timeout: 150_000, interval: 200 }).toEqual({ succeeded: 100 })
  for (const [number, { id }] of jobs.entries()) {
    expect((await house.client.job(id)).result).toEqual({ number })
    expect(await logOf(house.client, id, 'stdout')).toMatch(new RegExp(`^line ${number}\n{"event":"finish".*}\n$`))
  }
})

it('a node is shown for what it is, and what it would never start is refused with the reason', async () => {
  const pair = [
    { gpu_id: 0, name: 'NVIDIA GeForce RTX 3080', memory_mb: 10_240 },
    { gpu_id: 1, name: 'NVIDIA GeForce RTX 3090', memory_mb: 24_576 },
  ]
  await old.node(scheduler(), 'gpu/node 1', ['--gpus', JSON.stringify(pair)])
  await old.node(scheduler(), 'stuck', ['--docker'])
  expect(await house.client.workers()).toMatchObject([
    { name: 'gpu/node 1', dialect: 'trainforge', simulated: true, gpus: { total: 2 }, state: 'ready' },
    { name: 'stuck', dialect: 'trainforge', simulated: false },
  ])
  const { id } = await house.client.submit({ command: 'true', resources: { gpus: 2 } })
  const told = await house.stoker(['explain', id])
  expect(told.stdout).toMatch(/needs 2 GPUs.*at most 1/)
  expect(told.stdout).toContain('DOCKER_HOST')
  const one = await ended(
    house.client,
    (await house.client.submit({ command: 'echo gpu=$CUDA_VISIBLE_DEVICES', resources: { gpus: 1 } })).id,
  )
  expect(one.state).toBe('succeeded')
  expect(await logOf(house.client, one.id, 'stdout')).toBe('gpu=0\n')
})

it('an offer that one node keeps refusing is run by another', async () => {
  await old.node(scheduler(), 'refuses', ['--refuse', '1000'])
  const { id } = await house.client.submit({ command: 'echo done' })
  await expect.poll(async () => (await house.client.job(id)).history.length, { timeout: 30_000 }).toBeGreaterThan(0)
  await old.node(scheduler(), 'works')
  const job = await ended(house.client, id)
  expect(job).toMatchObject({ state: 'succeeded', failures: 0 })
  expect(job.history[0]).toMatchObject({ outcome: 'declined', error: expect.stringContaining('refuses declined') })
})

it('a cancel reaches the whole program, and a node that is stopped gives its job to another', async () => {
  const first = await old.node(`${house.url}/trainforge`, 'first', ['--max-jobs', '1'])
  const spec = (name: string) => ({ command: `(trap '' TERM; ${GATE('never')}) & echo go; ${GATE(name)}; echo over` })
  const canceled = (await house.client.submit(spec('never'))).id
  await prints(house.client, canceled, 'go')
  await house.client.cancel(canceled)
  expect(await ended(house.client, canceled)).toMatchObject({ state: 'canceled' })
  const moved = (await house.client.submit(spec('gate'))).id
  await prints(house.client, moved, 'go')
  await first.stop()
  await becomes(house.client, moved, 'queued')
  await old.node(scheduler(), 'second', ['--max-jobs', '1'])
  await prints(house.client, moved, 'go')
  await writeFile(house.path('gate'), '')
  expect(await ended(house.client, moved)).toMatchObject({ state: 'succeeded', failures: 0, attempts: 2 })
})

it('what a killed node ran goes on and its result is kept', async () => {
  const node = await old.node(scheduler(), 'n', ['--max-jobs', '1'])
  const { id } = await house.client.submit({ command: `echo go; ${GATE('gate')}; echo over` })
  await prints(house.client, id, 'go')
  node.signal('SIGKILL')
  await writeFile(house.path('gate'), '')
  expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 1 })
  expect(await logOf(house.client, id)).toBe('go\nover\n')
})

it('files go in, outputs come out, and packages are installed once', async () => {
  await old.node(scheduler(), 'n', ['--max-jobs', '1'])
  await mkdir(house.path('project', 'data'), { recursive: true })
  await writeFile(house.path('project', 'data', 'in.txt'), 'seven')
  await writeFile(
    house.path('project', 'train.py'),
    "import os, sys; os.mkdir('out'); open('out/model', 'w').write(open('data/in.txt').read()); print(sys.prefix)",
  )
  const sent = ['--files', `${house.path('project')}:.`, '--output', 'out/**', '--out', house.path('got')]
  const ran = await house.stoker(['run', ...sent, '--env', 'A=b', '--', 'python', 'train.py'])
  expect(ran.stderr).toContain('succeeded')
  expect(await readFile(house.path('got', 'out', 'model'), 'utf8')).toBe('seven')
  const inside = { type: 'custom_script', input: { script: 'import sys; print(sys.prefix)' } } as const
  const environment = { requirements: '# nothing' }
  for (const times of [1, 0]) {
    const job = await ended(house.client, (await house.client.submit({ ...inside, environment })).id)
    expect(job.state).toBe('succeeded')
    expect(await logOf(house.client, job.id, 'stdout')).toContain(house.path('home', '.cache', 'stoker'))
    const told = (await logOf(house.client, job.id, 'stderr')).match(/making an environment/g) ?? []
    expect(told).toHaveLength(times)
  }
})

it('a program is ended at its time, and one that cannot start says why', async () => {
  await old.node(scheduler(), 'n')
  const late = (await house.client.submit({ command: 'sleep 100', timeout: '1s' })).id
  expect(await ended(house.client, late)).toMatchObject({ state: 'timed_out' })
  const wrong = (await house.client.submit({ command: ['/no/such/program'] })).id
  expect((await ended(house.client, wrong)).reason).toContain('/no/such/program')
  const failed = (await house.client.submit({ command: 'echo oh no >&2; exit 3' })).id
  expect(await ended(house.client, failed)).toMatchObject({ state: 'failed', reason: 'exited with code 3\noh no' })
})

it('notebooks of both kinds race for jobs, and each job is run by one of them', async () => {
  const { secret } = await house.client.createToken({ role: 'worker' })
  const jobs = await house.client.submitMany(Array.from({ length: 12 }, (_, number) => numbered(number)))
  await Promise.all(
    (['a', 'b', 'a'] as const).map((type, n) => old.notebook(scheduler(), secret, type, `notebook-${n}`)),
  )
  await expect.poll(() => countsOf(house.client), { timeout: 60_000, interval: 100 }).toEqual({ succeeded: 12 })
  for (const [number, { id }] of jobs.entries()) {
    const job = await house.client.job(id)
    expect(job).toMatchObject({ result: { number }, attempts: 1 })
    expect(await logOf(house.client, id, 'stdout')).toContain(`line ${number}\n`)
  }
})
