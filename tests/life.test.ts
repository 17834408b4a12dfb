import { dirname } from 'node:path'
import type { JobEvent } from '@stoker/client'
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

describe('simulated GPUs', () => {
  it('belong to one program at a time and are named in its environment', async () => {
    await house.startWorker('w', { args: ['--simulate-gpus', '2x24GB', '--max-jobs', '8'] })
    const command = `echo "$GPU_DEVICE $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES"; while [ ! -e ${house.path('after')} ]; do sleep 0.02; done`
    const wish = { resources: { gpus: 1, cpus: 0.1 } }
    const jobs = await house.client.submitMany([1, 2, 3].map(() => aProgram(command, wish)))
    await expect.poll(async () => (await house.client.worker('w')).gpus).toEqual({ total: 2, claimed: 2 })
    const first = jobs.slice(0, 2).map(({ id }) => id)
    for (const id of first) await prints(house.client, id, '\n')
    const third = jobs[2]?.id ?? ''
    expect(await house.client.job(third)).toMatchObject({ state: 'queued', attempts: 0 })
    const details = await Promise.all(first.map(id => house.client.job(id)))
    const uuids = details.map(({ history }) => history[0]?.gpus ?? [])
    expect(new Set(uuids.flat()).size).toBe(2)
    const logs = await Promise.all(first.map(id => logOf(house.client, id)))
    const { hardware } = await house.client.worker('w')
    const expected = uuids.map(([uuid]) => `${hardware.gpus.find(gpu => gpu.uuid === uuid)?.index}  ${uuid}\n`)
    expect(logs).toEqual(expected)
    await openGate(house, 'after')
    expect(await ended(house.client, third)).toMatchObject({ state: 'succeeded' })
  })

  it('leave a job that asks for more than there is queued, with the reason', async () => {
    expect((await house.client.submit({ command: 'true' })).unschedulable).toBe('no worker has joined this hub yet')
    await house.startWorker('w', { args: ['--simulate-gpus', '1x24GB'] })
    const spec = { command: 'true', resources: { gpus: 2 } }
    const { id, unschedulable } = await house.client.submit(spec)
    expect(unschedulable).toBe('needs 2 GPUs, w has 1')
    expect(await house.client.job(id)).toMatchObject({ state: 'queued', unschedulable: 'needs 2 GPUs, w has 1' })
    await expect(house.client.submit(spec, { failFast: true })).rejects.toMatchObject({
      problem: { status: 422, code: 'job.unschedulable' },
    })
  })
})

describe('a program', () => {
  it.each(['none', 'sandbox'] as const)(
    'with isolation %s has exactly the environment it is promised',
    async isolation => {
      const env = {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: '/home/of-worker',
        TZ: 'UTC',
        SECRET: 'of the worker',
        LANG: 'C.UTF-8',
        LC_ALL: '',
      }
      await house.startWorker('w', { env })
      const job = await run(house.client, {
        command: [
          'python3',
          '-c',
          'import os, json; print(json.dumps({"event": "text", "content": dict(os.environ)}))',
        ],
        isolation,
        env: { GREETING: 'hello', MODEL_NAME: 'mine' },
        input: { size: 3, 'is-big': false, what: null, list: [1, { a: 'b' }] },
      })
      expect(job.state).toBe('succeeded')
      const { PATH, STOKER_ATTEMPT, MODEL_PATH, PWD, LC_CTYPE, ...rest } = JSON.parse(
        (await logOf(house.client, job.id, 'stdout')).trim(),
      ).content
      expect(rest).toEqual({
        HOME: isolation === 'sandbox' ? '/work' : '/home/of-worker',
        LANG: 'C.UTF-8',
        LC_ALL: '',
        TZ: 'UTC',
        PYTHONUNBUFFERED: '1',
        GREETING: 'hello',
        MODEL_NAME: 'mine',
        METADATA_SIZE: '3',
        METADATA_IS_BIG: 'False',
        METADATA_WHAT: 'None',
        METADATA_LIST: '[1,{"a":"b"}]',
        TASK_METADATA: '{"size":3,"is-big":false,"what":null,"list":[1,{"a":"b"}]}',
        TASK_ID: job.id,
        STOKER_JOB_ID: job.id,
        GPU_DEVICE: '',
        CUDA_VISIBLE_DEVICES: '',
        NVIDIA_VISIBLE_DEVICES: 'void',
      })
      const python = (await house.client.worker('w')).hardware.pythons[0]?.path ?? ''
      expect(PATH).toBe([...new Set([dirname(python), '/usr/local/bin', '/usr/bin', '/bin'])].join(':'))
      expect(MODEL_PATH).toBe(house.path('w', 'no-models'))
      expect(STOKER_ATTEMPT).toMatch(/^\d+-\d+-1$/)
    },
  )

  it('may be a script with an interpreter and words of its own', async () => {
    await house.startWorker('w')
    const input = {
      script: 'echo "$BASH_VERSION" | grep -q . && echo "bash says $1"',
      interpreter: 'bash',
      args: ['hi'],
    }
    const job = await run(house.client, { type: 'custom_script', input })
    expect(job).toMatchObject({ state: 'succeeded' })
    expect(await logOf(house.client, job.id)).toBe('bash says hi\n')
  })

  it('is not fetched from a private address', async () => {
    await house.startWorker('w')
    const scriptUrl = `${house.url}/openapi.json`
    const job = await run(house.client, { type: 'custom_script', input: { scriptUrl } })
    expect(job).toMatchObject({ state: 'failed', attempts: 1 })
    expect(job.reason).toMatch(/127\.0\.0\.1/)
  })

  it('is heard in all three forms of events, and anything else it says is a log line', async () => {
    await house.startWorker('w')
    const said = [
      { type: 'progress', data: { percent: 25 } },
      { event: 'text_delta', data: { content: 'ab' } },
      { event: 'checkpoint', step: 7 },
      { event: 'unknown', step: 8 },
      { event: 'finish', status: 'success' },
    ]
    const lines = [...said.map(event => JSON.stringify(event)), 'plain words', 'WARNING: careful'].join('\n')
    const { id } = await house.client.submit(aProgram(['printf', '%s\n', lines]))
    const events: JobEvent[] = []
    for await (const event of house.client.events(id)) events.push(event)
    const program = events.flatMap(event => ('data' in event ? [{ event: event.event, ...event.data }] : []))
    expect(program).toMatchObject([
      { event: 'progress', percent: 25, attempt: 1, stream: 'stdout' },
      { event: 'text_delta', content: 'ab' },
      { event: 'checkpoint', step: 7 },
      { event: 'logs', log: '{"event":"unknown","step":8}', level: 'info' },
      { event: 'finish', status: 'success' },
      { event: 'logs', log: 'plain words', level: 'info' },
      { event: 'logs', log: 'WARNING: careful', level: 'warning' },
    ])
    expect(events.at(-1)).toMatchObject({ event: 'end', job: { state: 'succeeded' } })
    const middle = events.find(({ event }) => event === 'checkpoint')?.id
    const rest: JobEvent[] = []
    for await (const event of house.client.events(id, { lastEventId: middle })) rest.push(event)
    expect(rest.filter(event => 'data' in event)).toHaveLength(4)
  })
})
