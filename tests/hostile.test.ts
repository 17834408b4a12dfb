import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { JobSpecInput } from '@stoker/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { House } from './harness/house.ts'
import { aProgram, ended, logOf, prints } from './harness/jobs.ts'
import { processesWith, residentBytes } from './harness/processes.ts'
import { counted, upTo } from './harness/programs.ts'

const MB = 1024 * 1024
const SCRIPT = fileURLToPath(new URL('./harness/hostile.py', import.meta.url))
/** What a worker lets one attempt have. */
const MAX_PIDS = 4096
const BOUND_BYTES = 300 * MB

let house: House
let hub: ChildProgram
let worker: ChildProgram
let script: string

beforeAll(async () => {
  house = await House.open()
  hub = await house.startHub()
  worker = await house.startWorker('w', { args: ['--max-jobs', '60'] })
  script = await readFile(SCRIPT, 'utf8')
})

afterAll(async () => {
  await house.close()
})

/** The marker stands in the command line of every process of the tree. */
function hostile(kind: string, marker: string, more: JobSpecInput): JobSpecInput {
  return { resources: { cpus: 0.1 }, ...more, command: ['python3', '-c', script, kind, marker] }
}

const livingOf = async (marker: string) => (await processesWith(marker)).map(({ pid }) => pid)

const KINDS = ['plain', 'escape', 'reborn']
const TREES = KINDS.flatMap(kind => (['none', 'sandbox'] as const).map(isolation => ({ kind, isolation })))

/** Starts all trees at once, since each takes the whole grace before it is killed, and answers their ids and markers. */
async function plant(name: string, more: JobSpecInput) {
  const trees = TREES.map(tree => ({ ...tree, marker: `${house.root}-${name}-${tree.kind}-${tree.isolation}` }))
  const specs = trees.map(({ kind, isolation, marker }) => hostile(kind, marker, { ...more, isolation }))
  const jobs = await house.client.submitMany(specs)
  for (const { id } of jobs) await prints(house.client, id, 'ready', 60_000)
  return trees.map(({ marker }, i) => ({ id: jobs[i]?.id ?? '', marker }))
}

it('ends trees that ignore TERM, escape or are reborn when they are canceled, in and out of a sandbox', async () => {
  const planted = await plant('cancel', {})
  for (const { marker } of planted) expect(await livingOf(marker)).not.toEqual([])
  await Promise.all(planted.map(({ id }) => house.client.cancel(id)))
  for (const { id, marker } of planted) {
    expect(await ended(house.client, id)).toMatchObject({ state: 'canceled', attempts: 1 })
    expect(await livingOf(marker)).toEqual([])
  }
})

it('ends the same trees when their time is up, though they say nothing', async () => {
  const planted = await plant('timeout', { timeout: 2 })
  for (const { id, marker } of planted) {
    expect(await ended(house.client, id)).toMatchObject({ state: 'timed_out', attempts: 1 })
    expect(await livingOf(marker)).toEqual([])
  }
})

it('stops a storm of forks at the limit of processes and ends all of it', async () => {
  const marker = `${house.root}-storm`
  const { id } = await house.client.submit(hostile('storm', marker, { isolation: 'none' }))
  await prints(house.client, id, 'refused after', 60_000)
  expect((await livingOf(marker)).length).toBeLessThanOrEqual(MAX_PIDS)
  await house.client.cancel(id)
  expect(await ended(house.client, id)).toMatchObject({ state: 'canceled', attempts: 1 })
  expect(await livingOf(marker)).toEqual([])
})

it('lets a program print a gigabyte without waiting for it, keeping what the limit allows', async () => {
  const command = ['python3', '-c', 'import sys\nfor i in range(1024): sys.stdout.write(("x" * 1023 + "\\n") * 1024)']
  const { id } = await house.client.submit(aProgram(command, { outputLimit: '20MB' }))
  let highest = { hub: 0, worker: 0 }
  const watching = setInterval(async () => {
    const [ofHub, ofWorker] = await Promise.all([residentBytes(hub.pid), residentBytes(worker.pid)])
    highest = { hub: Math.max(highest.hub, ofHub), worker: Math.max(highest.worker, ofWorker) }
  }, 50)
  const job = await ended(house.client, id)
  clearInterval(watching)
  expect(job).toMatchObject({ state: 'succeeded', exitCode: 0 })
  expect(job.history[0]?.note).toContain('above the limit of 20 MB were dropped')
  const log = await logOf(house.client, id)
  expect(log.indexOf('stoker: the output limit is reached')).toBe(20_000_001)
  expect(log.length).toBeLessThan(20_001_000)
  process.stdout.write(`highest memory: hub ${highest.hub / MB} MB, worker ${highest.worker / MB} MB\n`)
  expect(Math.max(highest.hub, highest.worker)).toBeLessThan(BOUND_BYTES)
})

it('keeps the logs of 50 programs that talk at once complete', async () => {
  const lines = 2000
  const command = `i=1; while [ $i -le ${lines} ]; do echo "line $i"; i=$((i+1)); done`
  const jobs = await house.client.submitMany(upTo(50).map(() => aProgram(command, { resources: { cpus: 0.01 } })))
  for (const { id } of jobs) {
    expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 1 })
    expect(await logOf(house.client, id)).toBe(counted(lines))
  }
  expect(await residentBytes(hub.pid)).toBeLessThan(BOUND_BYTES)
  expect(await residentBytes(worker.pid)).toBeLessThan(BOUND_BYTES)
})
