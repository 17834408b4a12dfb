import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { JobSpecInput } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { givenSeed } from './harness/config.ts'
import { House } from './harness/house.ts'
import { aProgram, becomes, countsOf, ended } from './harness/jobs.ts'
import { counting, openGate } from './harness/programs.ts'
import { printedSeed, seeded } from './harness/seeded.ts'

const MIDDLE = 12
const KILLS = 5
const ROOT = 0
const GATHER = 100
const HELD = 101
const FALLBACK = 102

let house: House

beforeEach(async () => {
  house = await House.open()
})

afterEach(async () => {
  await house.close()
})

const marking = (mark: number, more: JobSpecInput): JobSpecInput => ({
  ...counting(house, { mark, lines: 2 }),
  ...more,
})

/** A root, many that wait for it, one that gathers them; beside it a failure with one who cannot and one who may go on. */
function graph(): readonly JobSpecInput[] {
  const middle = Array.from({ length: MIDDLE }, (_, n) => `middle-${n}`)
  return [
    { ...counting(house, { mark: ROOT, lines: 2, gate: 'gate' }), name: 'root' },
    ...middle.map((name, n) => marking(n + 1, { name, dependsOn: ['root'] })),
    marking(GATHER, { name: 'gather', dependsOn: middle }),
    marking(HELD, { name: 'held', hold: true, dependsOn: ['gather'] }),
    { ...aProgram('exit 3'), name: 'bad', dependsOn: ['root'] },
    { type: 'noop', name: 'never', dependsOn: ['bad', 'held'] },
    { type: 'noop', name: 'neither', dependsOn: ['never'] },
    marking(FALLBACK, { name: 'fallback', dependsOn: [{ job: 'bad', on: 'failure' }] }),
  ]
}

async function marks(): Promise<readonly number[]> {
  return (await readFile(house.path('marks'), 'utf8')).trim().split('\n').map(Number)
}

it('runs a graph of jobs in its order, each once, however often the hub is killed', async () => {
  const random = seeded(printedSeed(givenSeed))
  let hub = await house.startHub()
  await house.startWorker('w', { args: ['--max-jobs', '4'] })
  const specs = graph()
  const jobs = await house.client.submitMany(specs)
  const idOf = (name: string) => jobs[specs.findIndex(spec => spec.name === name)]?.id ?? ''
  await becomes(house.client, idOf('root'), 'running')
  await hub.kill()
  hub = await house.startHub()
  expect(await house.client.job(idOf('gather'))).toMatchObject({ state: 'waiting', waitingFor: { unmet: MIDDLE } })
  expect(await house.client.job(idOf('held'))).toMatchObject({ waitingFor: { unmet: 1, heldBy: 'admin' } })
  await openGate(house, 'gate')
  for (let kill = 0; kill < KILLS; kill += 1) {
    await pause(random() * 400)
    await hub.kill()
    hub = await house.startHub()
  }
  expect((await ended(house.client, idOf('gather'))).state).toBe('succeeded')
  await house.client.release(idOf('held'))
  expect((await ended(house.client, idOf('held'))).state).toBe('succeeded')
  expect((await ended(house.client, idOf('fallback'))).state).toBe('succeeded')
  expect(await ended(house.client, idOf('neither'))).toMatchObject({
    state: 'canceled',
    reason: `it needs the success of job ${idOf('never')}, which is canceled`,
  })
  expect(await countsOf(house.client)).toEqual({ succeeded: MIDDLE + 4, failed: 1, canceled: 2 })

  const order = await marks()
  expect([...order].sort((a, b) => a - b)).toEqual([...Array(MIDDLE + 1).keys(), GATHER, HELD, FALLBACK])
  expect(order[0]).toBe(ROOT)
  const inner = order.filter(mark => mark !== FALLBACK)
  expect(inner.slice(-2)).toEqual([GATHER, HELD])
})
