import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { becomes, ended, logOf } from './harness/jobs.ts'
import { processesWith } from './harness/processes.ts'
import { counted, counting, marksOf, openGate } from './harness/programs.ts'

let house: House

beforeEach(async () => {
  house = await House.open()
  await house.startHub()
})

afterEach(async () => {
  await house.close()
})

/** Attempts that run programs below the data folder of the named worker. */
async function programsOf(name: string): Promise<number> {
  return (await processesWith(house.path(name, 'attempts'))).length
}

it('refuses the late result of a paused worker whose job went elsewhere, and kills its program', async () => {
  const { client } = house
  const paused = await house.startWorker('w1')
  const spec = { ...counting(house, { mark: 0, lines: 2, gate: 'after' }), lostAfter: 2 }
  const { id } = await client.submit(spec)
  await becomes(client, id, 'running')
  expect(await programsOf('w1')).toBeGreaterThan(0)
  await house.startWorker('w2')
  paused.signal('SIGSTOP')
  await expect.poll(async () => (await client.job(id)).attempts, { timeout: 20_000 }).toBe(2)
  await becomes(client, id, 'running')
  paused.signal('SIGCONT')
  await expect.poll(() => programsOf('w1'), { timeout: 10_000 }).toBe(0)
  await openGate(house, 'after')
  const job = await ended(client, id)
  expect(job).toMatchObject({ state: 'succeeded', attempts: 2, worker: { name: 'w2' } })
  expect(job.history.map(({ outcome, worker }) => [worker.name, outcome])).toEqual([
    ['w1', 'lost'],
    ['w2', 'completed'],
  ])
  expect(await logOf(client, id)).toBe(counted(2))
  expect(await marksOf(house)).toEqual([0, 0])
})

it('refuses the result of a program that ended while its worker was paused and its job ran elsewhere', async () => {
  const { client } = house
  const paused = await house.startWorker('w1')
  const command = `if mkdir ${house.path('first')} 2>/dev/null; then while [ ! -e ${house.path('late')} ]; do sleep 0.02; done; echo first; exit 7; fi; while [ ! -e ${house.path('after')} ]; do sleep 0.02; done; echo second`
  const { id } = await client.submit({ isolation: 'none', lostAfter: 2, command })
  await becomes(client, id, 'running')
  await house.startWorker('w2')
  paused.signal('SIGSTOP')
  await openGate(house, 'late')
  await expect.poll(async () => (await client.job(id)).attempts, { timeout: 20_000 }).toBe(2)
  await becomes(client, id, 'running')
  paused.signal('SIGCONT')
  await expect.poll(() => programsOf('w1'), { timeout: 10_000 }).toBe(0)
  await openGate(house, 'after')
  expect(await ended(client, id)).toMatchObject({ state: 'succeeded', exitCode: 0, attempts: 2 })
  expect(await logOf(client, id)).toBe('second\n')
})

it('resumes the same attempt when nobody else could take the job meanwhile', async () => {
  const { client } = house
  const paused = await house.startWorker('w1')
  const { id } = await client.submit({ ...counting(house, { mark: 0, lines: 2, gate: 'after' }), lostAfter: 2 })
  await becomes(client, id, 'running')
  paused.signal('SIGSTOP')
  await becomes(client, id, 'queued')
  paused.signal('SIGCONT')
  await becomes(client, id, 'active')
  await openGate(house, 'after')
  expect(await ended(client, id)).toMatchObject({ state: 'succeeded', attempts: 1 })
  expect(await logOf(client, id)).toBe(counted(2))
  expect(await marksOf(house)).toEqual([0])
})
