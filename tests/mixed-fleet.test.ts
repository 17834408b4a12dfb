import { mkdir } from 'node:fs/promises'
import { freePort } from '@stoker/net'
import type { JobSpecInput } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { givenSeed } from './harness/config.ts'
import { House } from './harness/house.ts'
import { countsOf } from './harness/jobs.ts'
import { QubixWorker } from './harness/qubix-worker.ts'
import { printedSeed, seeded } from './harness/seeded.ts'
import { OldWorkers } from './harness/trainforge.ts'

const JOBS = 300

let house: House
let ports: { readonly qubix: number; readonly trainforge: number }
beforeEach(async () => {
  house = await House.open()
  ports = { qubix: await freePort(), trainforge: await freePort() }
  await mkdir(house.path('tmp'))
})
afterEach(() => house.close())

const startHub = () =>
  house.startHub({
    args: [
      ...['--qubix-port', String(ports.qubix), '--qubix-open'],
      ...['--trainforge-port', String(ports.trainforge), '--trainforge-open'],
    ],
  })

/** What only some of the fleet can do, and what all can. */
function specOf(number: number): JobSpecInput {
  const finish = JSON.stringify({ event: 'finish', status: 'completed', result: { number } })
  const said = `print(${JSON.stringify(finish)})`
  const kinds: readonly JobSpecInput[] = [
    { type: 'custom_script', input: { script: said } },
    { command: ['python3', '-c', said], resources: { cpus: 0.1 } },
    { command: ['sh', '-c', 'echo "$SAID"'], env: { SAID: finish }, resources: { cpus: 0.1 } },
    { type: 'echo', input: { number } },
    { command: ['sh', '-c', `echo '${finish}' | tee left.txt`], outputs: ['left.txt'], resources: { cpus: 0.1 } },
    { type: 'compute', placement: { unverified: true, tags: ['qubix'] } },
  ]
  return { ...(kinds[number % kinds.length] ?? {}), name: `job ${number}`, lostAfter: '4s' }
}

it('three kinds of workers share 300 jobs, though workers die and return and the hub is killed', async () => {
  const random = seeded(printedSeed(givenSeed))
  let hub = await startHub()
  const old = await OldWorkers.of(house)
  const backend = `http://127.0.0.1:${ports.qubix}`
  const scheduler = `http://127.0.0.1:${ports.trainforge}`
  const starts: readonly (() => Promise<ChildProgram>)[] = [
    ...['e1', 'e2'].map(name => async () => new QubixWorker(house, { name, backend }).program),
    ...['t1', 't2'].map(id => () => old.node(scheduler, id, ['--max-jobs', '3'])),
    ...['n1', 'n2'].map(name => () => house.startWorker(name)),
  ]
  // Its work is not to be had elsewhere, so it is left alone.
  const simple = new QubixWorker(house, { name: 's1', backend, variant: 'simple', speed: 100 })
  const workers = await Promise.all(starts.map(start => start()))
  const jobs = await house.client.submitMany(Array.from({ length: JOBS }, (_, number) => specOf(number)))
  const done = async () => (await countsOf(house.client)).succeeded ?? 0
  for (const [round, enough] of [30, 80, 130, 180].entries()) {
    await expect.poll(done, { timeout: 120_000, interval: 100 }).toBeGreaterThanOrEqual(enough)
    if (round === 2) {
      await hub.kill()
      hub = await startHub()
    }
    const at = Math.floor(random() * workers.length)
    await workers[at]?.kill()
    const start = starts[at]
    if (start !== undefined) workers[at] = await start()
  }
  await expect.poll(() => countsOf(house.client), { timeout: 240_000, interval: 250 }).toEqual({ succeeded: JOBS })
  const dialects = new Set<string>()
  const kindOf = new Map((await house.client.workers()).map(({ id, dialect }) => [id, dialect]))
  for (const [number, { id }] of jobs.entries()) {
    const { result, worker } = await house.client.job(id)
    dialects.add(kindOf.get(worker?.id ?? '') ?? '')
    if (number % 6 === 5) expect(result).toMatchObject({ unverified: true })
    else expect(JSON.stringify(result)).toMatch(new RegExp(`number\\\\*":${number}\\D`))
  }
  expect([...dialects].toSorted()).toEqual(['native', 'qubix', 'trainforge'])
  expect(simple.program.isOver).toBe(false)
})
