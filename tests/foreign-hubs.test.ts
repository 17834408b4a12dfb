import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { QubixHub } from '../worker/src/links/test-qubix-hub.ts'
import { TrainforgeHub } from '../worker/src/links/test-trainforge-hub.ts'
import { ChildProgram } from './harness/child-program.ts'
import { bundles } from './harness/config.ts'
import { House } from './harness/house.ts'

let house: House
/** The only folder of the test that programs in their sandbox can see. */
let shown: string
beforeEach(async () => {
  house = await House.open()
  shown = await mkdtemp(join(tmpdir(), 'stoker-shown-'))
  await chmod(shown, 0o755)
})
afterEach(async () => {
  await house.close()
  await rm(shown, { recursive: true })
})

const started: ChildProgram[] = []
afterEach(async () => {
  for (const program of started.splice(0)) if (!program.isOver) await program.stop()
})

function start(name: string, ...args: readonly string[]): ChildProgram {
  const script = join(bundles, `${name}.js`)
  const program = new ChildProgram({ script, args, env: { STOKER_HOME: house.root } })
  started.push(program)
  return program
}

const soon = (check: () => void) => vi.waitFor(check, { timeout: 30_000, interval: 50 })
const waitsFor = (file: string) =>
  `import os, time\nprint('begun', flush=True)\nwhile not os.path.exists(${JSON.stringify(file)}): time.sleep(0.05)\nprint('done')\n`

describe('qubix-worker with its documented flags', () => {
  let hub: QubixHub
  beforeEach(async () => {
    hub = new QubixHub()
    await hub.open()
  })
  afterEach(() => hub.close())
  const flags = () => [
    ...['--backend', `${hub.url.replace('//', '//prov:to%20ken@')}/`, '--price', '7.5', '--name', 'My Gaming PC'],
    ...['--location', 'US East (Virginia)', '--visible', shown, '--allow-unsandboxed', '--json'],
  ]

  it('registers, runs a job, survives its own death, and says goodbye', async () => {
    const gate = join(shown, 'gate')
    hub.offer('job-1', waitsFor(gate))
    const first = start('qubix-worker', ...flags())
    expect(await first.ready()).toMatchObject({ name: 'My Gaming PC', hub: hub.url })
    expect(hub.providers).toMatchObject([{ pricePerHour: 7.5, location: 'US East (Virginia)', isActive: true }])
    expect(hub.http.calls[0]?.headers.authorization).toBe(`Basic ${Buffer.from('prov:to ken').toString('base64')}`)
    await soon(() => expect(hub.progress('job-1')).toContain(1))
    await first.kill()
    await writeFile(gate, '')
    const second = start('qubix-worker', ...flags())
    await soon(() => expect(hub.ends('job-1')).toMatchObject([{ outcome: 'completed', exitCode: 0 }]))
    expect(hub.output('job-1').split('\n')).toEqual(['begun', 'done'])
    expect(hub.progress('job-1').at(-1)).toBe(100)
    expect(hub.endsHeard('job-1')).toBe(1)
    expect((await second.stop()).code).toBe(0)
    expect(hub.hasLeft).toBe(true)
  })

  it('stops with a sentence where the backend wants an identity that nobody gave', async () => {
    hub.instead.set(/^\/api\/providers\/register$/, { status: 404, json: { success: false } })
    const worker = start('qubix-worker', '--backend', hub.url)
    expect((await worker.exited).code).toBe(1)
    expect(worker.stderr).toContain('--address')
  })
})

describe('trainforge-worker with its documented flags', () => {
  let hub: TrainforgeHub
  beforeEach(async () => {
    hub = new TrainforgeHub('workers')
    await hub.open()
  })
  afterEach(() => hub.close())
  const flags = () => [
    ...['--scheduler', hub.url, '--worker-id', 'gpu-node-1', '--max-jobs', '2'],
    ...['--visible', shown, '--allow-unsandboxed'],
  ]

  it('registers, tells its status, runs a project, and unregisters', async () => {
    const gate = join(shown, 'gate')
    hub.offerProject('p1', { 'train.py': `${waitsFor(gate)}open('model.txt', 'w').write('weights')\n` })
    const worker = start('trainforge-worker', ...flags(), '--json')
    expect(await worker.ready()).toMatchObject({ id: 'gpu-node-1', hub: hub.url })
    await soon(() => expect(hub.reports('p1')).toMatchObject([{ status: 'running', worker_id: 'gpu-node-1' }]))
    // A worker writes its status down once a second.
    await soon(async () => {
      const status = start('trainforge-worker', '--status')
      expect((await status.exited).code).toBe(0)
      expect(JSON.parse(status.stdout)).toMatchObject({
        ...{ worker_id: 'gpu-node-1', running: true, active_jobs: 1, max_jobs: 2, scheduler_reachable: true },
        ...{
          system_info: { worker_id: 'gpu-node-1' },
          gpu_status: { total_gpus: 0 },
          cpu_status: { allocated_cores: 1 },
        },
      })
    })
    await writeFile(gate, '')
    await soon(() => expect(hub.ends('p1')).toMatchObject([{ outcome: 'completed', exitCode: 0 }]))
    expect(hub.output('p1').split('\n')).toEqual(['begun', 'done'])
    expect(hub.results('p1')?.includes('model.txt')).toBe(true)
    expect((await worker.stop()).code).toBe(0)
    expect(hub.hasLeft).toBe(true)
    const stopped = start('trainforge-worker', '--status')
    expect((await stopped.exited).code).toBe(3)
    expect(stopped.stderr).toContain('no worker for a TrainForge scheduler runs')
  })

  it('stops with the reason when the scheduler refuses it', async () => {
    hub.instead.set(/register$/, { status: 403, json: { error: 'this id is taken' } })
    const worker = start('trainforge-worker', ...flags())
    expect((await worker.exited).code).toBe(1)
    expect(worker.stderr).toContain('this id is taken')
  })

  it('tells the hub that what ran was cancelled when it is told to end', async () => {
    hub.offerProject('p1', { 'train.py': waitsFor(join(shown, 'never')) })
    const worker = start('trainforge-worker', ...flags())
    await soon(() => expect(hub.output('p1')).toContain('begun'))
    await worker.stop()
    expect(hub.ends('p1')).toMatchObject([{ outcome: 'interrupted' }])
    expect(hub.hasLeft).toBe(true)
  })
})

it.each([
  [['--backend', 'ftp://x'], '--backend is an http or https address'],
  [['--backend', 'http://x', '--hub', 'http://y'], 'a worker serves one hub, found --hub and --backend'],
  [['--backend', 'http://x', '--address', 'abc'], '--address has 60 letters'],
  [['--backend', 'http://x', '--price', 'cheap'], '--price is a number'],
  [['--backend', 'http://x', '--simulate-gpus', '2x24GB'], '--simulate-gpus is for hubs that can say so'],
  [['--price', '3'], '--price is for --backend'],
  [['--scheduler', 'http://x', '--worker-id', 'register'], '--worker-id is a name'],
  [['--worker-id', 'x'], '--worker-id is for --scheduler'],
])('stoker worker %j is refused with its reason', async (args, sentence) => {
  const worker = start('stoker', 'worker', ...args)
  expect((await worker.exited).code).not.toBe(0)
  expect(worker.stderr).toContain(sentence)
})
