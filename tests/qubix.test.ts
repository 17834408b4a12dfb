import { mkdir, writeFile } from 'node:fs/promises'
import { freePort } from '@stoker/net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { House } from './harness/house.ts'
import { becomes, countsOf, ended, logOf } from './harness/jobs.ts'
import { leftOver } from './harness/left-over.ts'
import { QubixWorker } from './harness/qubix-worker.ts'

const script = (text: string) => ({ type: 'custom_script' as const, input: { script: text } })

let house: House
let qubixPort: number
beforeEach(async () => {
  house = await House.open()
  qubixPort = await freePort()
  await mkdir(house.path('tmp'))
})
afterEach(() => house.close())

async function startHub(...more: readonly string[]): Promise<ChildProgram> {
  return house.startHub({ args: ['--qubix-port', String(qubixPort), ...more] })
}

async function workerToken(): Promise<string> {
  return (await house.client.createToken({ role: 'worker', label: 'old workers' })).secret
}

const own = () => `http://127.0.0.1:${qubixPort}`

it('runs 100 jobs on old workers while the hub is killed twice: each ends once, each result is kept', async () => {
  let hub = await startHub()
  const backend = `${own()}/t/${await workerToken()}`
  const workers = [
    ...['e1', 'e2', 'e3', 'e4'].map(name => new QubixWorker(house, { name, backend })),
    ...['s1', 's2'].map(name => new QubixWorker(house, { name, backend, variant: 'simple' })),
  ]
  const tuning = {
    type: 'fine-tuning' as const,
    input: { baseModel: 'm', dataset: 'd' },
    placement: { unverified: true },
  }
  const specs = Array.from({ length: 100 }, (_, i) => (i % 5 === 0 ? tuning : script(`print("job", ${i})`)))
  const jobs = await house.client.submitMany(specs)
  const reported = () => workers.flatMap(({ lines }) => lines).filter(line => line.reported !== undefined).length
  for (const count of [25, 60]) {
    await expect.poll(reported, { timeout: 60_000, interval: 20 }).toBeGreaterThanOrEqual(count)
    await hub.kill()
    hub = await startHub()
  }
  await expect.poll(() => countsOf(house.client), { timeout: 120_000, interval: 100 }).toEqual({ succeeded: 100 })
  for (const [i, { id }] of jobs.entries()) {
    const { result } = await house.client.job(id)
    if (i % 5 === 0) expect(result).toMatchObject({ jobType: 'fine-tuning', unverified: true })
    else expect(result).toMatchObject({ exitCode: 0, stdout: [`job ${i}`, ''] })
    if (i % 5 !== 0) expect(await logOf(house.client, id, 'stdout')).toBe(`job ${i}\n`)
  }
  // Whatever was answered with 200 and was no duplicate is what the hub has, and nothing was said twice.
  const kept = workers.flatMap(({ lines }) => lines).filter(line => line.status === 200 && line.duplicate === false)
  expect(new Set(kept.map(({ reported: id }) => id)).size).toBe(kept.length)
  expect(workers.map(({ program }) => program.isOver)).toEqual(workers.map(() => false))
})

it.each([
  ['Basic credentials and a doubled slash', (secret: string) => `http://worker:${secret}@127.0.0.1:${qubixPort}/`],
  ['a token in the path', (secret: string) => `${own()}/t/${secret}`],
  [
    'the prefix of the hub, a token in the path and a doubled slash',
    (secret: string) => `${house.url}/qubix/t/${secret}/`,
  ],
])('lets an old worker in by %s', async (_, backendOf) => {
  await startHub()
  const worker = new QubixWorker(house, { name: 'Gaming PC', backend: backendOf(await workerToken()) })
  await worker.tells(({ ready }) => ready === true)
  const { id } = await house.client.submit(script('print(6 * 7)'))
  expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', worker: { name: 'Gaming PC' } })
  expect(await logOf(house.client, id)).toBe('42\n')
})

it('shows an old worker with its dialect, its limits and what they mean for a job', async () => {
  await startHub()
  const worker = new QubixWorker(house, { name: 'old', backend: `${own()}/t/${await workerToken()}` })
  await worker.tells(({ call }) => call?.endsWith('/heartbeat') === true)
  const list = (await house.stoker(['workers', '--json'])).stdout
  expect(JSON.parse(list).workers).toMatchObject([{ name: 'old', dialect: 'qubix', tags: ['qubix', 'location:Attic'] }])
  const shown = (await house.stoker(['workers', 'old'])).stdout
  expect(shown).toContain('asks 5 an hour')
  expect(shown).toContain('runs custom_script')
  expect(shown).toContain('unverified: mnist_training, stable_diffusion, training')
  const { id } = await house.client.submit({ type: 'mnist_training', name: 'digits' })
  const { stdout } = await house.stoker(['explain', id])
  expect(stdout).toContain('may make up what it says of type mnist_training')
})

it('needs a token, also on this machine, unless the operator opens it', async () => {
  const hub = await startHub()
  const refused = new QubixWorker(house, { name: 'stranger', backend: own(), speed: 1000 })
  expect(await refused.program.exited).toEqual({ code: 0, signal: null })
  expect(refused.lines).toEqual([
    { call: 'POST /api/providers/register', status: 401 },
    { call: 'POST /api/providers/register', status: 401 },
    { gives_up: true },
  ])
  await hub.stop()
  await startHub('--qubix-open')
  const worker = new QubixWorker(house, { name: 'neighbour', backend: own() })
  await worker.tells(({ ready }) => ready === true)
  const { id } = await house.client.submit(script('print(1)'))
  expect((await ended(house.client, id)).state).toBe('succeeded')
})

it('gives the job of an old worker that was killed to another one', async () => {
  await startHub()
  const backend = `${own()}/t/${await workerToken()}`
  const doomed = new QubixWorker(house, { name: 'doomed', backend })
  await doomed.tells(({ ready }) => ready === true)
  const flag = house.path('flag')
  const text = `import os, time\nwhile not os.path.exists(${JSON.stringify(flag)}): time.sleep(0.05)`
  const { id } = await house.client.submit({ ...script(text), lostAfter: '2s' })
  await becomes(house.client, id, 'running')
  await doomed.program.kill()
  const heir = new QubixWorker(house, { name: 'heir', backend })
  await heir.tells(({ executes }) => executes === id)
  await writeFile(flag, '')
  expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 2, worker: { name: 'heir' } })
  await heir.program.stop()
  // The program of the killed worker goes on until it sees the flag.
  await expect.poll(() => leftOver(house.path('tmp'), new Set())).toEqual([])
})
