import { dirname } from 'node:path'
import type { JobEvent } from '@stoker/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { aProgram, ended, logOf, prints, run } from './harness/jobs.ts'
import { openGate } from './harness/programs.ts'

let house: House

beforeEach(async () => {
  house = await House.open()
  await house.startHub()
})

afterEach(async () => {
  await house.close()
})

describe('simulated GPUs', () => {
  it('belong to one program at a time and are named in its environment', async () => {
    await house.startWorker('w', { args: ['--simulate-gpus', '2x24GB', '--max-jobs', '8'] })
    const command = `echo "$GPU_DEVICE $CUDA_VISIBLE_DEVICES $NVIDIA_VISIBLE_DEVICES"; while [ ! -e ${house.path('after')} ]; do sleep 0.02; done`
    const wish = { resources: { gpus: 1, cpus: 0.1 } }
    const jobs = await house.client.submitMany([1, 2, 3].map(() => aProgram(command, wish)))
    await expect.poll(async () => (await house.client.worker('w')).gpus).toMatchObject({ total: 2, claimed: 2 })
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
        resources: { cpus: 1.5 },
        env: { GREETING: 'hello', MODEL_NAME: 'mine' },
        input: { size: 3, 'is-big': false, what: null, list: [1, { a: 'b' }] },
      })
      expect(job.state).toBe('succeeded')
      const { PATH, STOKER_ATTEMPT, MODEL_PATH, CHECKPOINT_DIR, PWD, LC_CTYPE, ...rest } = JSON.parse(
        (await logOf(house.client, job.id, 'stdout')).trim(),
      ).content
      expect(rest).toEqual({
        HOME: isolation === 'sandbox' ? '/work' : '/home/of-worker',
        LANG: 'C.UTF-8',
        LC_ALL: '',
        TZ: 'UTC',
        ...{ OMP_NUM_THREADS: '2', MKL_NUM_THREADS: '2', OPENBLAS_NUM_THREADS: '2' },
        ...{ NUMEXPR_NUM_THREADS: '2', RAYON_NUM_THREADS: '2' },
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
      expect(CHECKPOINT_DIR).toMatch(/checkpoints$/)
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
