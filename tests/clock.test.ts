import { writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { becomes, ended, logOf, run } from './harness/jobs.ts'
import { counted, counting, marksOf, openGate } from './harness/programs.ts'

const HOUR_MS = 3_600_000
const SHIM = fileURLToPath(new URL('./harness/shifted-clock.mjs', import.meta.url))

let house: House

beforeEach(async () => {
  house = await House.open()
})

afterEach(async () => {
  await house.close()
})

const shiftTo = (ms: number) => writeFile(house.path('clock'), String(ms))

it.each(['hub', 'worker'])('a wall clock of the %s that jumps by an hour either way expires nothing', async jumping => {
  await shiftTo(0)
  const shifted = { nodeArgs: ['--import', SHIM], env: { STOKER_TEST_CLOCK: house.path('clock') } }
  await house.startHub(jumping === 'hub' ? shifted : {})
  const { client } = house
  const worker = await house.startWorker('w', jumping === 'worker' ? shifted : {})
  const spec = { ...counting(house, { mark: 0, lines: 3, gate: 'after' }), lostAfter: 4, timeout: '50m' }
  const { id } = await client.submit(spec)
  await becomes(client, id, 'running')
  for (const ms of [HOUR_MS, -HOUR_MS]) {
    await shiftTo(ms)
    // Longer than the lease: a worker that stops its beats, or a hub that counts wall time, would lose the job.
    const beatsUntil = performance.now() + 6_000
    await expect.poll(() => performance.now(), { timeout: 10_000, interval: 500 }).toBeGreaterThan(beatsUntil)
    expect(await client.job(id)).toMatchObject({ state: 'active', attempts: 1, lost: 0 })
    expect(await run(client, { type: 'echo' })).toMatchObject({ state: 'succeeded', attempts: 1 })
    const retried = { type: 'noop', input: { exitCode: 1 }, retries: { max: 1, backoff: { initial: 1 } } } as const
    expect(await run(client, retried)).toMatchObject({ state: 'failed', attempts: 2 })
  }
  await openGate(house, 'after')
  const job = await ended(client, id)
  expect(job).toMatchObject({ state: 'succeeded', attempts: 1, lost: 0 })
  expect(await logOf(client, id)).toBe(counted(3))
  expect(await marksOf(house)).toEqual([0])
  expect(worker.stderr).not.toContain('no connection')
})
