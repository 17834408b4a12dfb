import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { givenSeed } from './harness/config.ts'
import { House } from './harness/house.ts'
import { aProgram, becomes, ended, logOf } from './harness/jobs.ts'
import { processesWith } from './harness/processes.ts'
import { counted, counting, marksOf, openGate, upTo } from './harness/programs.ts'
import { printedSeed, seeded } from './harness/seeded.ts'

let house: House

beforeEach(async () => {
  house = await House.open()
  await house.startHub()
})

afterEach(async () => {
  await house.close()
})

const SLOTS = { args: ['--max-jobs', '20'] }
const KNOWN = { ...SLOTS, joins: false }

async function expectCounted(ids: readonly string[], lines: number): Promise<void> {
  for (const id of ids) {
    expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 1, lost: 0 })
    expect(await logOf(house.client, id)).toBe(counted(lines))
  }
  expect(await marksOf(house)).toEqual(upTo(ids.length))
}

it('goes on with programs that ran and with those that ended while the worker was dead', async () => {
  const { client } = house
  const worker = await house.startWorker('w', SLOTS)
  const gates = ['while-away', 'after']
  const specs = upTo(20).map(mark => counting(house, { mark, lines: 200, gate: gates[mark % 2] }))
  const ids = (await client.submitMany(specs)).map(({ id }) => id)
  for (const id of ids) await becomes(client, id, 'running')
  await worker.kill()
  await openGate(house, 'while-away')
  const again = await house.startWorker('w', KNOWN)
  for (const id of ids.filter((_, i) => i % 2 === 0)) await ended(client, id)
  await again.kill()
  await house.startWorker('w', KNOWN)
  await openGate(house, 'after')
  await expectCounted(ids, 200)
})

it('runs nothing twice and loses no line when the worker is killed at any moment', async () => {
  const random = seeded(printedSeed(givenSeed))
  let worker = await house.startWorker('w', SLOTS)
  const specs = upTo(150).map(mark => counting(house, { mark, lines: 20, pauseMs: 5 }))
  const ids = (await house.client.submitMany(specs)).map(({ id }) => id)
  for (let kills = 0; kills < 6; kills += 1) {
    await pause(random() * 400)
    await worker.kill()
    worker = await house.startWorker('w', KNOWN)
  }
  await expectCounted(ids, 20)
})

it('runs the programs of a lost machine again elsewhere within 20 s, as attempt 2, and clears up when it is back', async () => {
  const { client } = house
  const worker = await house.startWorker('w1', SLOTS)
  const oneOnlyWaits = (mark: number) => `if mkdir ${house.path(`first-${mark}`)}; then sleep 600; else echo second; fi`
  const ids = (await client.submitMany(upTo(4).map(mark => aProgram(oneOnlyWaits(mark))))).map(({ id }) => id)
  for (const id of ids) await becomes(client, id, 'running')
  await house.startWorker('w2', SLOTS)
  await worker.kill()
  await house.killKeepers('w1')
  const killedAt = performance.now()
  for (const id of ids) {
    const job = await ended(client, id)
    expect(job).toMatchObject({ state: 'succeeded', attempts: 2, lost: 1, worker: { name: 'w2' } })
    expect(job.history.map(({ outcome }) => outcome)).toEqual(['lost', 'completed'])
    expect(await logOf(client, id, 'stdout')).toBe('second\n')
  }
  expect(performance.now() - killedAt).toBeLessThan(20_000)
  await house.startWorker('w1', KNOWN)
  await expect.poll(() => processesWith(house.path('w1', 'attempts')), { timeout: 10_000 }).toEqual([])
})
