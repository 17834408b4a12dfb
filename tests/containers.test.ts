import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JobDetail, JobSpecInput } from '@stoker/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ChildProgram } from './harness/child-program.ts'
import { bundles } from './harness/config.ts'
import { IMAGE } from './harness/engine.ts'
import { containersOf } from './harness/engine-api.ts'
import { sharedEngine } from './harness/engine-shared.ts'
import { GpuClient, type SseEvent } from './harness/gpu-client.ts'
import { House } from './harness/house.ts'
import { becomes, ended, logOf, prints, run } from './harness/jobs.ts'
import { processesWith } from './harness/processes.ts'
import { buildFolder, LOADING, PRESETS, writeAnswerFolder, writeFolderOf } from './harness/program-folders.ts'

const KEY = 'a-key-of-the-old-service'
const SESSION = fileURLToPath(new URL('./harness/session.py', import.meta.url))
const CONTAINER = /^[0-9a-f]{64}$/
/** Says its first piece at once, and the next in ten minutes. */
const HALTING = { steps: 0, step_seconds: 600 }
const engine = await sharedEngine('docker')

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i + 1)
const isDelta = ({ event }: SseEvent) => event === 'text_delta'
const namesOf = (events: readonly SseEvent[]) => events.map(({ event }) => event)

function expectNumberedOnce(events: readonly SseEvent[]): void {
  expect(events.map(({ id }) => id)).toEqual(upTo(events.length))
  expect(namesOf(events).filter(name => /finish/.test(name))).toEqual(['task_finish'])
  expect(events.at(-1)?.event).toBe('task_finish')
}

if (typeof engine === 'string') it('containers are not tried here', context => context.skip(engine))
else
  describe('a real engine', () => {
    const { socket } = engine
    let house: House
    let worker: ChildProgram
    let gpu: GpuClient
    const workerStart = () => ({
      args: [
        ...['--engine', socket, '--no-pull', '--simulate-gpus', '1x24GB', '--max-jobs', '8'],
        ...['--allow-mount', house.path('shared')],
        ...[IMAGE, 'answer', 'counting', 'loading-example', 'not-there:*'].flatMap(image => ['--allow-image', image]),
      ],
    })

    beforeAll(async () => {
      house = await House.open()
      for (const name of ['presets', 'shared']) await mkdir(house.path(name))
      await chmod(house.path('shared'), 0o777)
      await writeAnswerFolder(house.path('answer'))
      await writeFolderOf(SESSION, house.path('counting'), 'counting')
      for (const folder of [house.path('answer'), house.path('counting'), LOADING]) await buildFolder(folder, socket)
      await copyFile(SESSION, house.path('shared', 'session.py'))
      await writeFile(house.path('presets', 'model_presets.yaml'), PRESETS)
      await house.startHub({
        env: { INTERNAL_API_KEY: KEY },
        args: ['--presets', house.path('presets')],
      })
      worker = await house.startWorker('w', workerStart())
      gpu = new GpuClient(`${house.url}/gpu`, KEY)
    })
    afterEach(allGone)
    afterAll(() => house.close())

    /** Nothing of a test is left: no container, nothing that runs, its place and device free. */
    async function allGone(): Promise<void> {
      await expect.poll(async () => (await ours()).map(one => one.Names), { timeout: 20_000 }).toEqual([])
      await expect
        .poll(() => house.client.worker('w'), { timeout: 30_000 })
        .toMatchObject({ running: 0, cpus: { claimed: 0 } })
      await expect.poll(async () => (await gpu.call('/health')).json.gpus).toMatchObject([{ is_available: true }])
    }

    async function ours() {
      return (await containersOf(socket)).filter(one => one.Labels['stoker.attempt'] !== undefined)
    }

    const oneOff = (model_id: string, metadata: object) => ({
      body: { task_type: 'oneoff', task_difficulty: 'low', model_id, task_preset: 'inference', metadata },
    })
    const inImage = (script: string, more: JobSpecInput = {}): JobSpecInput => ({
      image: IMAGE,
      command: ['sh', '-c', script],
      resources: { cpus: 0.1 },
      ...more,
    })
    const shell = (script: string, more: JobSpecInput = {}): Promise<JobDetail> =>
      run(house.client, inImage(script, more))

    describe('a program of the old service, unmodified', () => {
      it('runs as a preset and by its image on the command line', async () => {
        for (const how of [
          ['--preset', 'answer/inference'],
          ['--image', 'answer', '--', 'python', '/app/worker.py'],
          ['--image', 'answer'],
        ]) {
          const ran = await house.stoker(['run', '--json', ...how])
          expect(await ran.exited, ran.stderr).toMatchObject({ code: 0 })
          const { id } = JSON.parse(ran.stdout)
          expect(await house.client.job(id)).toMatchObject({
            state: 'succeeded',
            result: { text: '42' },
            history: [{ isolation: 'container', containerId: expect.stringMatching(CONTAINER) }],
          })
        }
      })

      it('streams to a plain HTTP client', async () => {
        const stream = await gpu.open('/api/tasks/submit', oneOff('answer', {}))
        const events = await stream.rest()
        expectNumberedOnce(events)
        const first = events[0]?.data
        const created = events[1]
        expect(first).toMatchObject({ status: 'allocated', gpu_id: 0 })
        expect(created).toMatchObject({
          event: 'worker',
          data: { status: 'created', container_id: expect.stringMatching(CONTAINER) },
        })
        expect(events.slice(2).map(({ event, data }) => [event, data.status ?? data.content])).toEqual([
          ['connection', 'connected'],
          ['text', '42'],
          ['task_finish', 'completed'],
        ])
        expect(await gpu.whole(`/api/tasks/${first.task_id}/events`)).toEqual(events)
      })

      it('streams what it says while it runs, to HTTP and to the command line, and is gone when it is canceled', async () => {
        const stream = await gpu.open('/api/tasks/submit', oneOff('loading', HALTING))
        const seen = await stream.until(isDelta)
        expect(seen.at(-1)?.data).toEqual({ delta: 'All ' })
        const id = seen[0]?.data.task_id
        const { container_id } = seen.find(({ data }) => data.status === 'created')?.data ?? {}
        expect(await ours()).toMatchObject([{ State: 'running', Id: container_id }])
        expect((await gpu.call(`/api/tasks/${id}`)).json).toMatchObject({ container_id })
        await gpu.call(`/api/tasks/${id}/cancel`, { method: 'POST' })
        const rest = await stream.rest()
        expectNumberedOnce([...seen, ...rest])
        expect(rest.at(-1)?.data.status).toBe('cancelled')
        await allGone()
        const args = ['run', '--preset', 'loading/inference', '--input', 'steps=0', '--input', 'step_seconds=600']
        const env = {
          STOKER_HOME: house.path('home'),
          STOKER_URL: house.url,
          STOKER_TOKEN: (await readFile(house.path('hub', 'admin-token'), 'utf8')).trim(),
        }
        const cli = house.program({ script: join(bundles, 'stoker.js'), args, env })
        await expect.poll(() => cli.stdout, { timeout: 30_000 }).toContain('All ')
        expect(await ours()).toMatchObject([{ State: 'running' }])
        cli.signal('SIGINT')
        expect((await cli.exited).code).not.toBe(0)
      })

      it('runs to its end as a custom task, and an image that no worker allows is a status code', async () => {
        const custom = (docker_image: string) => ({ body: { job_type: 'custom', docker_image } })
        const events = await gpu.whole('/api/tasks/custom', custom('answer:latest'))
        expectNumberedOnce(events)
        expect(events.at(-1)?.data).toMatchObject({ status: 'completed' })
        const refused = await gpu.call('/api/tasks/custom', custom('evil:latest'))
        expect(refused).toMatchObject({
          status: 400,
          json: { detail: expect.stringMatching(/evil:latest.*allow-image/s) },
        })
      })
    })

    describe('a session', () => {
      it('of a preset keeps its program between ten tasks, and is gone after its idle timeout', async () => {
        const names = new Set<string>()
        for (const n of upTo(10)) {
          const job = await run(house.client, { preset: 'loading/warm', input: { say: 'task' } })
          expect(job).toMatchObject({ state: 'succeeded', result: { text: `task ${n}` } })
          for (const { Id } of await ours()) names.add(Id)
        }
        expect(names.size).toBe(1)
        expect((await gpu.call('/health')).json.gpus).toMatchObject([{ is_available: false }])
        await allGone()
        await expect.poll(() => processesWith([...names].join())).toEqual([])
        const { sessions } = await house.client.sessions()
        expect(sessions).toMatchObject([
          { state: 'ended', reason: 'idle_timeout', attempts: 1, preset: 'loading/warm' },
        ])
      })

      it('goes on in the same container when its worker is killed, and answers each task once', async () => {
        const { id } = await house.client.startSession({
          image: IMAGE,
          command: ['python3', '-u', '/shared/session.py', '/shared/marks'],
          mounts: [{ source: house.path('shared'), target: '/shared', readOnly: false }],
          resources: { cpus: 0.1, gpus: 1 },
          session: { queue: 20 },
        })
        const send = (say: string, more: object = {}) => house.client.sendTask(id, { input: { say, ...more } })
        const sent = [await send('n1', { gate: '/shared/gate' })]
        await becomes(house.client, sent[0]?.id ?? '', 'running')
        for (const n of [2, 3]) sent.push(await send(`n${n}`))
        const [container] = await ours()
        await worker.kill()
        await writeFile(house.path('shared', 'gate'), '')
        worker = await house.startWorker('w', { ...workerStart(), joins: false })
        sent.push(await send('n4'))
        const tasks = await Promise.all(sent.map(task => ended(house.client, task.id)))
        expect(tasks.map(({ state, reason, result, attempts }) => [state, reason, result, attempts])).toEqual(
          upTo(4).map(n => ['succeeded', null, { text: `n${n} ${n}` }, 1]),
        )
        expect((await ours()).map(one => one.Id)).toEqual([container?.Id])
        const marks = await readFile(house.path('shared', 'marks'), 'utf8')
        expect(marks.trim().split('\n')).toEqual(sent.map(task => task.id))
        await house.client.endSession(id)
        await expect.poll(async () => (await house.client.session(id)).state, { timeout: 30_000 }).toBe('ended')
      })
    })

    describe('a job', () => {
      it('sees the documented variables, and its outputs come back', async () => {
        const script = 'env; id -u; pwd; touch /x; mkdir out; echo kept > out/a.txt'
        const job = await shell(script, {
          input: { 'my key': true, n: 1 },
          env: { OWN: 'value' },
          resources: { cpus: 0.1, gpus: 1 },
          outputs: ['out/**'],
        })
        expect(job).toMatchObject({ state: 'succeeded', history: [{ isolation: 'container' }] })
        const lines = (await logOf(house.client, job.id, 'stdout')).split('\n')
        expect(lines).toEqual(
          expect.arrayContaining([
            ...['MODEL_NAME=', 'MODEL_PATH=/models', 'GPU_DEVICE=0', `TASK_ID=${job.id}`, `STOKER_JOB_ID=${job.id}`],
            ...['METADATA_MY_KEY=True', 'METADATA_N=1', 'TASK_METADATA={"my key":true,"n":1}', 'OWN=value'],
            ...['PYTHONUNBUFFERED=1', '65534', '/work'],
          ]),
        )
        expect(await logOf(house.client, job.id, 'stderr')).toContain('Read-only file system')
        const kept: unknown[] = []
        for await (const one of house.client.artifacts(job.id)) kept.push(one)
        expect(kept).toMatchObject([{ path: 'out/a.txt', size: 5 }])
      })

      it('that takes more memory than it may is out of memory, with the limit', async () => {
        const job = await run(house.client, {
          image: IMAGE,
          command: ['python3', '-c', 'b = bytearray(500_000_000)'],
          resources: { cpus: 0.1, memory: '64MiB' },
        })
        expect(job).toMatchObject({
          state: 'failed',
          reason: expect.stringMatching(/out of memory \(limit 67\.1 MB\)/),
        })
      })

      it('is ended by a cancel and by its timeout, and its container with it', async () => {
        const { id } = await house.client.submit(inImage('echo here; sleep 600'))
        await prints(house.client, id, 'here')
        expect(await (await house.stoker(['cancel', id])).exited).toMatchObject({ code: 0 })
        expect(await ended(house.client, id)).toMatchObject({ state: 'canceled' })
        await allGone()
        expect(await shell('sleep 600', { timeout: '1s' })).toMatchObject({ state: 'timed_out' })
      })

      it('whose image is not allowed or not there is told so, with what to do', async () => {
        const failFast = async (image: string) => {
          const ran = await house.stoker(['run', '--fail-fast', '--image', image, '--pull', 'never', '--', 'true'])
          return { ...(await ran.exited), said: ran.stderr }
        }
        expect(await failFast('evil:1')).toMatchObject({
          code: 6,
          said: expect.stringMatching(/evil:1.*allow-image/s),
        })
        expect((await failFast('not-there:1')).said).toMatch(/not-there:1.*docker load/s)
        const { id } = await house.client.submit(inImage('true', { image: 'not-there:1', pull: 'never' }))
        const explained = await house.stoker(['explain', id])
        expect(explained.stdout).toMatch(/not-there:1/)
        await house.client.cancel(id)
      })

      it('is told when the engine of a worker is not running', async () => {
        const away = await house.startWorker('away', { args: ['--engine', house.path('no.sock')] })
        const { id } = await house.client.submit(inImage('true', { placement: { worker: 'away' } }))
        const explained = await house.stoker(['explain', id])
        expect(explained.stdout).toMatch(/no\.sock: it does not exist; start the engine/)
        await house.client.cancel(id)
        await away.stop()
      })
    })
  })
