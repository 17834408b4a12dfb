import { setTimeout as pause } from 'node:timers/promises'
import { isHubAway, type SubmittedJob } from '@stoker/client'
import type { JobSpecInput } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { givenSeed } from './harness/config.ts'
import { House } from './harness/house.ts'
import { countsOf, logOf } from './harness/jobs.ts'
import { counted, counting, marksOf, upTo } from './harness/programs.ts'
import { printedSeed, seeded } from './harness/seeded.ts'

const KILLS = 10
const SUBMITS = 500
const LINES = 8
const EVENT = { event: 'progress', percent: 100 }

let house: House

beforeEach(async () => {
  house = await House.open()
})

afterEach(async () => {
  await house.close()
})

/** Two jobs a submit: a program, and one the worker answers itself. */
function pair(number: number): readonly JobSpecInput[] {
  const labels = { pair: String(number) }
  const inline: JobSpecInput =
    number % 2 === 0 ? { type: 'echo', input: { number } } : { type: 'noop', input: { runMs: 50, events: [EVENT] } }
  return [
    { ...counting(house, { mark: number, lines: LINES }), labels },
    { ...inline, labels },
  ]
}

/** Asks until there is an answer: with its key, a submit whose fate is unknown is safe to repeat. */
async function acknowledged(number: number): Promise<readonly SubmittedJob[]> {
  for (;;) {
    try {
      return await house.client.submitMany(pair(number), { idempotencyKey: `pair-${number}` })
    } catch (error) {
      if (!isHubAway(error)) throw error
    }
  }
}

async function dieWhileStarting(afterMs: number): Promise<void> {
  const hub = house.hubProgram(['serve', '--data', house.path('hub'), '--port', String(house.port)])
  await pause(afterMs)
  await hub.kill()
}

async function allJobs() {
  const jobs = []
  let cursor: string | undefined
  do {
    const page = await house.client.jobs({ limit: 1000, cursor })
    jobs.push(...page.jobs)
    cursor = page.next ?? undefined
  } while (cursor !== undefined)
  return jobs
}

it('loses, repeats and invents nothing when the hub is killed over and over while a thousand jobs come and go', async () => {
  const random = seeded(printedSeed(givenSeed))
  let hub = await house.startHub()
  const worker = await house.startWorker('w', { args: ['--max-jobs', '12'] })
  const submits: Promise<readonly SubmittedJob[]>[] = []
  for (let round = 0; round < KILLS; round += 1) {
    for (let i = 0; i < SUBMITS / KILLS; i += 1) submits.push(acknowledged(submits.length))
    await pause(random() * 500)
    await hub.kill()
    if (round % 3 === 0) await dieWhileStarting(random() * 400)
    hub = await house.startHub()
  }
  const ids = (await Promise.all(submits)).flat().map(({ id }) => id)
  await expect
    .poll(() => countsOf(house.client), { timeout: 100_000, interval: 200 })
    .toEqual({ succeeded: 2 * SUBMITS })

  const jobs = await allJobs()
  expect(jobs.map(({ id }) => id).sort()).toEqual([...ids].sort())
  expect(jobs.filter(({ attempts, lost }) => attempts !== 1 || lost !== 0)).toEqual([])
  expect(await marksOf(house)).toEqual(upTo(SUBMITS))
  for (const { id, type } of jobs) {
    const expected = { command: counted(LINES), noop: `${JSON.stringify(EVENT)}\n` }[type] ?? ''
    expect(await logOf(house.client, id)).toBe(expected)
  }
  expect(worker.isOver).toBe(false)
})
