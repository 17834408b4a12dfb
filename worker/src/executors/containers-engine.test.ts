import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { isRunning, stopEngine, type TestEngine, whyNoEngine } from '../../../tests/harness/engine.ts'
import { containersOf } from '../../../tests/harness/engine-api.ts'
import { ownEngine } from '../../../tests/harness/engine-shared.ts'
import { removeStrays } from '../run/stray-containers.ts'
import type { LaunchOrder } from './port.ts'
import { benchEngine } from './test-bench-engine.ts'
import { finish, printed, processesWith, Workbench } from './workbench.ts'

const SOON = { timeout: 30_000, interval: 20 }
const FOREVER = ['sh', '-c', 'echo ready; sleep 600']
const GO_ON = 'echo before; while [ ! -e go ]; do sleep 0.01; done; echo after; exit 4'
const missing = whyNoEngine('docker')

describe('an engine that goes away', () => {
  if (missing !== null) return it('is not tried here', context => context.skip(missing))
  const open: { engine: TestEngine; bench: Workbench }[] = []
  afterEach(async () => {
    for (const { engine, bench } of open.splice(0)) {
      await bench.close()
      await stopEngine(engine)
    }
  })

  async function setUp(flags: readonly string[] = []) {
    const folder = await mkdtemp(join(tmpdir(), 'stoker-e-'))
    let engine = await ownEngine(folder, { flags })
    const bench = await Workbench.open(benchEngine(engine))
    const own = { engine, bench }
    open.push(own)
    const anOrder = (argv: readonly string[], changes: Partial<LaunchOrder> = {}) =>
      bench.anOrder(argv, { isolation: 'container', ...changes })
    const kill = async (signal: 'SIGKILL' | 'SIGTERM') => {
      process.kill(engine.pid, signal)
      await vi.waitFor(() => expect(isRunning(engine.pid)).toBe(false), SOON)
      await vi.waitFor(
        async () => expect(await processesWith(join(folder, 'exec', 'containerd.toml'))).toEqual([]),
        SOON,
      )
    }
    const start = async () => {
      engine = await ownEngine(folder, { flags })
      own.engine = engine
    }
    return { bench, anOrder, kill, start, socket: engine.socket, folder }
  }

  it('for good takes no container along that was canceled, and the next look removes its remains', async () => {
    const { bench, anOrder, kill, start, socket } = await setUp()
    const executor = bench.executor()
    const execution = await executor.start(await anOrder(FOREVER))
    await printed(execution)
    await kill('SIGKILL')
    expect(await processesWith(`STOKER_ATTEMPT=${execution.key}\0`)).not.toEqual([])
    execution.stop('canceled', 100)
    expect((await finish(execution)).exit).toMatchObject({ stoppedBy: 'canceled', exitCode: null })
    expect(await processesWith(`STOKER_ATTEMPT=${execution.key}\0`)).toEqual([])
    await start()
    await executor.close('kill')
    await bench.executor({ removeStrays: isHeld => removeStrays(socket, 'test-worker', isHeld) }).reattach()
    expect(await containersOf(socket)).toEqual([])
  })

  it('and ends its containers as it comes back leaves an honest record', async () => {
    const { bench, anOrder, kill, start, socket } = await setUp()
    const execution = await bench.executor().start(await anOrder(FOREVER))
    await printed(execution)
    await kill('SIGKILL')
    await start()
    const { exit, stdout } = await finish(execution)
    expect(stdout).toBe('ready\n')
    expect(exit).toMatchObject({ exitCode: null, signal: null, startError: null, keeperLost: false, stoppedBy: null })
    expect(exit.lost).toContain('the container engine went away')
    expect(await containersOf(socket)).toEqual([])
  })

  it('and comes back to containers that live through it hears their end', async () => {
    const { bench, anOrder, kill, start, socket } = await setUp(['--live-restore'])
    const order = await anOrder(['sh', '-c', GO_ON])
    const execution = await bench.executor().start(order)
    await printed(execution)
    await kill('SIGKILL')
    await start()
    await vi.waitFor(
      async () => expect(await readFile(join(order.folder, 'stderr'), 'utf8')).toContain('came back'),
      SOON,
    )
    await writeFile(join(order.folder, 'work', 'go'), '')
    const { exit, stdout, stderr } = await finish(execution)
    expect(exit).toMatchObject({ exitCode: 4, stoppedBy: null })
    expect(exit.lost).toBeUndefined()
    expect(stdout).toBe('before\nafter\n')
    expect(stderr).toContain('the container engine went away and came back')
    expect(await containersOf(socket)).toEqual([])
  })

  it('and with it the runner leaves nothing running', async () => {
    const { bench, anOrder, kill, start, socket } = await setUp()
    const executor = bench.executor()
    const execution = await executor.start(await anOrder(FOREVER))
    await printed(execution)
    await execution.usage()
    await kill('SIGKILL')
    process.kill(execution.pid, 'SIGKILL')
    const { exit } = await finish(execution)
    expect(exit.lost).toContain('runner was killed')
    expect(await processesWith(`STOKER_ATTEMPT=${execution.key}\0`)).toEqual([])
    await start()
    await executor.close('kill')
    await bench.executor({ removeStrays: isHeld => removeStrays(socket, 'test-worker', isHeld) }).reattach()
    expect(await containersOf(socket)).toEqual([])
  })

  it('in order ends its containers, and how they ended is told', async () => {
    const { bench, anOrder, kill, start, socket } = await setUp()
    const executor = bench.executor()
    const execution = await executor.start(await anOrder(FOREVER))
    await printed(execution)
    await kill('SIGTERM')
    await start()
    const { exit } = await finish(execution)
    expect(exit.exitCode === 143 || exit.lost?.includes('the container engine went away')).toBe(true)
    await executor.close('kill')
    await bench.executor({ removeStrays: isHeld => removeStrays(socket, 'test-worker', isHeld) }).reattach()
    expect(await containersOf(socket)).toEqual([])
  })

  it('before a container is ordered is named with its socket', async () => {
    const { bench, anOrder, kill, start, socket } = await setUp()
    await kill('SIGKILL')
    const { exit } = await finish(await bench.executor().start(await anOrder(['true'])))
    expect(exit.startError).toContain(`the container engine does not answer on ${socket}`)
    await start()
  })

  it('is not blamed when it has no GPU runtime: the order is', async () => {
    const { bench, anOrder, socket } = await setUp()
    const order = await anOrder(['true'])
    const container = bench.aContainer({ name: 'gpu-task-no-runtime', deviceIds: ['GPU-0'] })
    const { exit } = await finish(await bench.executor().start({ ...order, container }))
    expect(exit.startError).toContain('has no GPU runtime')
    expect(exit.startError).toContain('could not select device driver')
    expect(await containersOf(socket)).toEqual([])
  })
})
