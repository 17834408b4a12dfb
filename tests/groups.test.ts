import { afterEach, beforeEach, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { aProgram, logOf } from './harness/jobs.ts'

let house: House

beforeEach(async () => {
  house = await House.open()
})

afterEach(async () => {
  await house.close()
})

it('runs a sweep with its values, at most so many at once, through the death of the hub', async () => {
  const hub = await house.startHub()
  await house.startWorker('w', { args: ['--max-jobs', '8'] })
  const place = (name: string) => `\${{ ${name} }}`
  const submitted = await house.client.submitAll([
    {
      ...aProgram(`echo ${place('matrix.lr')} $MATRIX_SEED $STOKER_ARRAY_INDEX $STOKER_ARRAY_SIZE; sleep 0.2`),
      ...{ name: 's', matrix: { lr: [0.1, 0.2], seed: ['a', 'b', 'c'] }, maxParallel: 2 },
    },
  ])
  const id = submitted.groups[0]?.id ?? ''
  await expect.poll(async () => (await house.client.group(id)).counts.active, { interval: 20 }).toBeGreaterThan(0)
  await hub.kill()
  await house.startHub()
  await expect
    .poll(async () => (await house.client.group(id)).counts, { timeout: 60_000, interval: 100 })
    .toMatchObject({ succeeded: 6, active: 0, queued: 0 })
  expect((await house.client.group(id)).endedAt).not.toBeNull()
  const logs = await Promise.all(submitted.jobs.map(job => logOf(house.client, job.id)))
  expect(logs.slice(0, 2)).toEqual(['0.1 a 0 6\n', '0.1 b 1 6\n'])
  expect(logs.at(-1)).toBe('0.2 c 5 6\n')
})

it('goes on with a schedule after the death of the hub, and meets each time once', async () => {
  const hub = await house.startHub()
  await house.startWorker('w')
  await house.client.createSchedule({
    ...{ name: 'often', cron: '* * * * * *', overlap: 'allow', catchUp: 'one', spec: { type: 'noop' } },
  })
  const runs = async () => (await house.client.schedule('often')).runs
  await expect.poll(runs, { timeout: 30_000, interval: 50 }).toBeGreaterThan(1)
  await hub.kill()
  await house.startHub()
  const before = await runs()
  await expect.poll(runs, { timeout: 30_000, interval: 50 }).toBeGreaterThan(before + 1)
  const { enabled, nextAt } = await house.client.changeSchedule('often', { enabled: false })
  expect([enabled, nextAt]).toEqual([false, null])
  const made = await runs()
  const jobs = await house.client.jobs({ label: ['schedule=often'], limit: 1000 })
  expect(jobs.jobs).toHaveLength(made)
})
