import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { aProgram, becomes, ended, logOf, prints, run } from './harness/jobs.ts'
import { processesWith } from './harness/processes.ts'
import { counting, marksOf, openGate } from './harness/programs.ts'

let house: House

beforeEach(async () => {
  house = await House.open()
  await house.startHub()
})

afterEach(async () => {
  await house.close()
})

const running = (name: string) => processesWith(house.path(name, 'attempts'))

describe('a cancel', () => {
  it('ends a queued job at once, also before any worker has joined', async () => {
    const { id } = await house.client.submit(aProgram('true'))
    expect(await house.client.cancel(id)).toMatchObject({ effect: 'canceled', job: { state: 'canceled' } })
    expect(await ended(house.client, id)).toMatchObject({ state: 'canceled', attempts: 0, reason: 'canceled by admin' })
    await expect(house.client.cancel(id)).rejects.toMatchObject({ problem: { status: 409, code: 'job.ended' } })
  })

  it('lets a running program end in order and keeps its last words', async () => {
    await house.startWorker('w')
    const { id } = await house.client.submit(
      aProgram(['bash', '-c', 'trap "echo saved; exit 0" TERM; echo ready; while :; do sleep 0.05; done']),
    )
    await prints(house.client, id, 'ready')
    expect(await house.client.cancel(id)).toMatchObject({ effect: 'stopping', job: { cancelRequested: true } })
    expect(await ended(house.client, id)).toMatchObject({ state: 'canceled', attempts: 1, reason: 'canceled by admin' })
    expect(await logOf(house.client, id, 'stdout')).toBe('ready\nsaved\n')
    expect(await running('w')).toEqual([])
  })

  it('is heard by programs that are still being set up', async () => {
    await house.startWorker('w', { args: ['--max-jobs', '20'] })
    for (let round = 0; round < 5; round += 1) {
      const { id } = await house.client.submit(aProgram('exec sleep 600'))
      await house.client.cancel(id)
      expect(await ended(house.client, id)).toMatchObject({ state: 'canceled' })
    }
    await expect.poll(() => running('w')).toEqual([])
  })
})

it('shows those who follow a progress bar while it is drawn, and a line longer than any event in full', async () => {
  await house.startWorker('w')
  const { id } = await house.client.submit(aProgram(['bash', '-c', 'printf "\\r10%%\\r20%%"; exec sleep 600']))
  let shown = ''
  for await (const event of house.client.events(id)) {
    if (event.event === 'logs') shown += event.data.log
    if (shown === '\r10%\r') break
  }
  await house.client.cancel(id)
  const bytes = 3_000_000
  const long = await house.client.submit(aProgram(['bash', '-c', `head -c ${bytes} /dev/zero | tr '\\0' x; echo`]))
  let length = 0
  for await (const event of house.client.events(long.id))
    if (event.event === 'logs') length += `${event.data.log}`.length
  expect(length).toBe(bytes)
})

it('ends a silent program that ignores TERM soon after its time is up', async () => {
  await house.startWorker('w')
  const job = await run(house.client, aProgram(['bash', '-c', 'trap "" TERM; sleep 600 & wait; wait'], { timeout: 1 }))
  expect(job).toMatchObject({ state: 'timed_out', attempts: 1, reason: 'Task timeout exceeded' })
  const ranMs = Date.parse(job.endedAt ?? '') - Date.parse(job.startedAt ?? '')
  expect(ranMs).toBeGreaterThanOrEqual(1_000)
  expect(ranMs).toBeLessThan(15_000)
  expect(await running('w')).toEqual([])
})

it('tries a failing program again, each time after a longer pause, until its retries are used up', async () => {
  await house.startWorker('w')
  const spec = { ...counting(house, { mark: 0, lines: 1 }), retries: { max: 2, backoff: { initial: 1, max: 60 } } }
  const job = await run(house.client, { ...spec, command: `${spec.command}; exit 3` })
  expect(job).toMatchObject({ state: 'failed', attempts: 3, failures: 3, exitCode: 3 })
  const times = job.history.map(({ placedAt, endedAt }) => [Date.parse(placedAt), Date.parse(endedAt ?? '')] as const)
  const pauses = times.slice(1).map(([placedAt], i) => placedAt - (times[i]?.[1] ?? 0))
  expect(pauses[0]).toBeGreaterThan(400)
  expect(pauses[1]).toBeGreaterThan(800)
  expect(await marksOf(house)).toEqual([0, 0, 0])
  const retry = await house.client.retry(job.id)
  expect(await house.client.job(retry.id)).toMatchObject({ retryOf: job.id, failures: 0 })
  await house.client.cancel(retry.id)
})

it('gives a draining worker nothing new until it is resumed, and lets its program end', async () => {
  await house.startWorker('w')
  const before = await house.client.submit(counting(house, { mark: 0, lines: 1, gate: 'after' }))
  await becomes(house.client, before.id, 'running')
  expect(await house.client.drain('w')).toMatchObject({ state: 'draining' })
  const later = await house.client.submit(counting(house, { mark: 1, lines: 1 }))
  await openGate(house, 'after')
  expect(await ended(house.client, before.id)).toMatchObject({ state: 'succeeded' })
  expect(await house.client.job(later.id)).toMatchObject({ state: 'queued', attempts: 0 })
  expect(await house.client.resume('w')).toMatchObject({ state: 'ready' })
  expect(await ended(house.client, later.id)).toMatchObject({ state: 'succeeded', attempts: 1 })
})

it('hands the programs of a worker that is told to end to another one at once', async () => {
  const leaving = await house.startWorker('w1')
  const command = `echo run >> ${house.path('runs')}; while [ ! -e ${house.path('after')} ]; do sleep 0.02; done`
  const { id } = await house.client.submit(aProgram(command))
  await becomes(house.client, id, 'running')
  await house.startWorker('w2')
  const askedAt = performance.now()
  expect(await leaving.stop()).toEqual({ code: 0, signal: null })
  await expect.poll(async () => (await house.client.job(id)).attempts, { interval: 20 }).toBe(2)
  expect(performance.now() - askedAt).toBeLessThan(5_000)
  await openGate(house, 'after')
  expect(await ended(house.client, id)).toMatchObject({ state: 'succeeded', attempts: 2, worker: { name: 'w2' } })
})

it('stops waiting for a stubborn program at the second signal', async () => {
  const leaving = await house.startWorker('w1')
  const { id } = await house.client.submit(
    aProgram(['bash', '-c', 'trap "" TERM; echo ready; while :; do sleep 0.05; done']),
  )
  await prints(house.client, id, 'ready')
  leaving.signal('SIGTERM')
  await expect
    .poll(() => leaving.stderr, { interval: 20 })
    .toContain('stopping 1 jobs within 10 s; once more to stop them now')
  const askedAt = performance.now()
  leaving.signal('SIGTERM')
  expect(await leaving.exited).toEqual({ code: 0, signal: null })
  expect(performance.now() - askedAt).toBeLessThan(5_000)
  expect(await running('w1')).toEqual([])
  await house.client.cancel(id)
})
