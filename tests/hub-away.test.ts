import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { becomes, ended, logOf } from './harness/jobs.ts'
import { counted, counting, marksOf, openGate, upTo } from './harness/programs.ts'

const AWAY_MS = 60_000

let house: House

beforeEach(async () => {
  house = await House.open()
})

afterEach(async () => {
  await house.close()
})

it('loses nothing of programs that print and end while the hub is away for a minute', async () => {
  const hub = await house.startHub()
  const worker = await house.startWorker('w', { args: ['--max-jobs', '4'] })
  const programs = [
    { lines: 50, pauseMs: 500 },
    { lines: 140, pauseMs: 500 },
    { lines: 20_000, gate: 'while-away' },
    { lines: 3, gate: 'after' },
  ]
  const submitted = await house.client.submitMany(
    programs.map((program, mark) => counting(house, { mark, ...program })),
  )
  for (const { id } of submitted) await becomes(house.client, id, 'running')
  await hub.kill()
  await openGate(house, 'while-away')
  // The minute itself is what is tested: nothing happens that could be waited for.
  await pause(AWAY_MS)
  await house.startHub()
  const backAt = performance.now()
  await expect.poll(() => worker.stderr, { timeout: 10_000, interval: 20 }).toContain('connected to the hub again')
  expect(performance.now() - backAt).toBeLessThan(5_000)
  expect(worker.stderr.match(/no connection to/g)).toHaveLength(1)
  await openGate(house, 'after')
  for (const [i, { id }] of submitted.entries()) {
    expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 1, lost: 0 })
    expect(await logOf(house.client, id)).toBe(counted(programs[i]?.lines ?? 0))
  }
  expect(await marksOf(house)).toEqual(upTo(4))
  expect(worker.stderr.match(/connected to the hub again/g)).toHaveLength(1)
})
