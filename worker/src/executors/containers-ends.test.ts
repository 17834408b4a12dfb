import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { TestEngine } from '../../../tests/harness/engine.ts'
import { callEngine, containersOf } from '../../../tests/harness/engine-api.ts'
import { sharedEngine } from '../../../tests/harness/engine-shared.ts'
import { removeStrays } from '../run/stray-containers.ts'
import { readExitRecord } from './exit-record.ts'
import type { Execution, LaunchOrder } from './port.ts'
import { benchEngine } from './test-bench-engine.ts'
import { startAndKillWorker } from './test-killed-worker.ts'
import { finish, parentOf, printed, processesWith, Workbench } from './workbench.ts'

const SOON = { timeout: 30_000, interval: 20 }
const WAIT_FOR_GO = 'echo before; while [ ! -e go ]; do sleep 0.01; done; echo after; exit 4'
const FOREVER = ['sh', '-c', 'echo ready; setsid sleep 600 & sleep 600']

for (const kind of ['docker', 'podman'] as const) {
  const engine = await sharedEngine(kind)
  if (typeof engine !== 'string') describeKills(engine)
  else if (kind === 'podman') console.log(engine)
  else it('ends of containers are not tried here', context => context.skip(engine))
}

function describeKills(engine: TestEngine): void {
  describe(`a container on ${engine.kind} is not left behind`, () => {
    let bench: Workbench
    beforeEach(async () => {
      bench = await Workbench.open(benchEngine(engine))
    })
    afterEach(() => bench.close())

    const anOrder = (argv: readonly string[], changes: Partial<LaunchOrder> = {}) =>
      bench.anOrder(argv, { isolation: 'container', ...changes })
    const letGo = ({ folder }: LaunchOrder) => writeFile(join(folder, 'work', 'go'), '')
    const mine = async (key: string) =>
      (await containersOf(engine.socket)).filter(({ Labels }) => Labels['stoker.attempt'] === key)
    const expectGone = async ({ key }: { readonly key: string }) => {
      expect(await mine(key)).toEqual([])
      expect(await processesWith(`STOKER_ATTEMPT=${key}\0`)).toEqual([])
    }
    const found = async (): Promise<Execution> => {
      const [execution] = await bench.executor().reattach()
      if (execution === undefined) throw new Error('nothing was found')
      return execution
    }

    it('by a killed worker, which finds it running again and hears its end', async () => {
      const order = await anOrder(['sh', '-c', WAIT_FOR_GO])
      await startAndKillWorker(bench, [order])
      const execution = await found()
      expect(execution).toMatchObject({ key: order.key, hasEnded: false })
      expect((await mine(order.key)).map(({ State }) => State)).toEqual(['running'])
      await letGo(order)
      const { exit, stdout } = await finish(execution)
      expect(stdout).toBe('before\nafter\n')
      expect(exit).toMatchObject({ exitCode: 4, stoppedBy: null, keeperLost: false })
      await expectGone(order)
    })

    it('by a worker that never comes back: it is stopped as abandoned', async () => {
      const order = await anOrder(FOREVER)
      await startAndKillWorker(bench, [order], 300)
      await vi.waitFor(async () => expect(await readExitRecord(order.folder, order.key)).not.toBeNull(), SOON)
      await bench.expectNobodyLeft()
      expect((await finish(await found())).exit).toMatchObject({ stoppedBy: 'abandoned', signal: 'SIGTERM' })
    })

    it('by a deadline that passes while no worker lives', async () => {
      const script = 'trap "" TERM; while :; do sleep 1; done'
      const order = await anOrder(['sh', '-c', script], { deadlineMs: 300, graceMs: 50 })
      await startAndKillWorker(bench, [order])
      await vi.waitFor(() => expect(existsSync(join(order.folder, 'exit.json'))).toBe(true), SOON)
      await expectGone(order)
      expect((await finish(await found())).exit).toMatchObject({ stoppedBy: 'deadline', signal: 'SIGKILL' })
    })

    it('by a killed keeper', async () => {
      const executor = bench.executor()
      const execution = await executor.start(await anOrder(FOREVER))
      await printed(execution)
      process.kill(await parentOf(execution.pid), 'SIGKILL')
      const { exit } = await finish(execution)
      expect(exit).toMatchObject({ keeperLost: true, exitCode: null, signal: null, startError: null })
      await expectGone(execution)
      expect((await finish(await executor.start(await anOrder(['true'])))).exit.exitCode).toBe(0)
    })

    it('by a keeper that was killed with its zygote', async () => {
      const order = await anOrder(FOREVER)
      await startAndKillWorker(bench, [order])
      for (const pid of await processesWith(bench.runtimeDir)) process.kill(pid, 'SIGKILL')
      expect((await finish(await found())).exit).toMatchObject({ keeperLost: true })
      await expectGone(order)
    })

    it('by a killed runner, and the record says that nobody knows how it ended', async () => {
      const execution = await bench.executor().start(await anOrder(FOREVER))
      await printed(execution)
      process.kill(execution.pid, 'SIGKILL')
      const { exit, stdout } = await finish(execution)
      expect(stdout).toBe('ready\n')
      expect(exit).toMatchObject({ exitCode: null, signal: null, startError: null, keeperLost: false })
      expect(exit.lost).toContain('runner was killed')
      await expectGone(execution)
    })

    it('by a runner that was killed in the middle of making it', async () => {
      const order = await anOrder(FOREVER)
      const starting = bench.executor().start(order)
      const runner = await vi.waitFor(() => newestProcessOf(bench), { timeout: 10_000, interval: 1 })
      process.kill(runner, 'SIGKILL')
      const { exit } = await finish(await starting)
      expect(exit.startError ?? exit.lost).toContain('runner was killed')
      await expectGone(order)
    })

    it('by a cancel before it had started', async () => {
      const order = await anOrder(FOREVER)
      const executor = bench.executor()
      const starting = executor.start(order).catch(() => {})
      await vi.waitFor(() => newestProcessOf(bench), { timeout: 10_000, interval: 1 })
      await executor.close('kill')
      await starting
      await vi.waitFor(() => expectGone(order), SOON)
    })

    it('by an earlier life of the worker, while those that a keeper holds are left alone', async () => {
      const workerId = `worker-${process.pid}`
      const labels = { 'stoker.worker_id': workerId }
      const order = await anOrder(['sh', '-c', WAIT_FOR_GO])
      if (order.container === null) throw new Error('no container was ordered')
      await startAndKillWorker(bench, [{ ...order, container: { ...order.container, labels } }])
      const image = engine.kind === 'podman' ? `localhost/${order.container.image}` : order.container.image
      const strayOf = async (worker: string) => {
        const Labels = { 'stoker.worker_id': worker, 'stoker.attempt': 'an-earlier-one' }
        const body = { Image: image, Cmd: ['sleep', '600'], Labels, HostConfig: { NetworkMode: 'none', Init: true } }
        const { Id } = (await callEngine(engine.socket, 'POST', '/containers/create', body)) as { Id: string }
        await callEngine(engine.socket, 'POST', `/containers/${Id}/start`)
        return Id
      }
      const [stray, foreign] = [await strayOf(workerId), await strayOf('another-worker')]
      const clear = (isHeld: (attempt: string) => boolean) => removeStrays(engine.socket, workerId, isHeld)
      const [execution] = await bench.executor({ removeStrays: clear }).reattach()
      const ids = (await containersOf(engine.socket)).map(({ Id }) => Id)
      expect(ids).not.toContain(stray)
      expect(ids).toContain(foreign)
      expect(await mine(order.key)).toHaveLength(1)
      await letGo(order)
      expect(await execution?.ended).toMatchObject({ exitCode: 4 })
      await execution?.release()
      await callEngine(engine.socket, 'DELETE', `/containers/${foreign}?force=1`)
    })

    it('by a restart of the machine', async () => {
      const order = await anOrder(['true'])
      await mkdir(bench.runtimeDir, { mode: 0o700 })
      const image = engine.kind === 'podman' ? `localhost/${order.container?.image}` : order.container?.image
      const Labels = { 'stoker.launch': `before-${process.pid}`, 'stoker.attempt': order.key }
      await callEngine(engine.socket, 'POST', '/containers/create', { Image: image, Cmd: ['true'], Labels })
      const container = { engine: engine.socket, launch: Labels['stoker.launch'] }
      const before = { boot: 'an earlier one', pid: 1, start: '1', key: order.key, folder: order.folder, container }
      const text = JSON.stringify({ ...before, startedAtMs: 5, leaves: [], uid: null })
      await writeFile(join(bench.runtimeDir, 'k1.json'), `${text}\n`)
      expect((await finish(await found())).exit).toMatchObject({ keeperLost: true, startedAtMs: 5 })
      await expectGone(order)
    })
  })
}

/** The runner is the last that was forked: zygote, keeper, runner. */
async function newestProcessOf(bench: Workbench): Promise<number> {
  const pids = await processesWith(bench.runtimeDir)
  const newest = pids.sort((a, b) => a - b)[2]
  if (newest === undefined) throw new Error('there is no runner yet')
  return newest
}
