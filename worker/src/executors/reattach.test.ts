import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { readExitRecord } from './exit-record.ts'
import type { LaunchOrder } from './port.ts'
import { startAndKillWorker } from './test-killed-worker.ts'
import { finish, parentOf, printed, processesWith, Workbench } from './workbench.ts'

const SOON = { timeout: 15_000, interval: 10 }
const WAIT_FOR_GO = 'echo before; while [ ! -e go ]; do sleep 0.01; done; echo after; exit 4'

describe('a worker that is killed', () => {
  let bench: Workbench
  beforeEach(async () => {
    bench = await Workbench.open()
  })
  afterEach(() => bench.close())

  const startAndDie = (orders: readonly LaunchOrder[], idleMs?: number) => startAndKillWorker(bench, orders, idleMs)
  const letGo = ({ folder }: LaunchOrder) => writeFile(join(folder, 'work', 'go'), '')

  for (const isolation of ['none', 'sandbox'] as const) {
    it(`finds its running program again (${isolation})`, async () => {
      const order = await bench.anOrder(['sh', '-c', WAIT_FOR_GO], { isolation })
      await startAndDie([order])
      const [execution] = await bench.executor().reattach()
      expect(execution).toMatchObject({ key: order.key, folder: order.folder })
      await letGo(order)
      if (execution === undefined) throw new Error('nothing was found')
      const { exit, stdout } = await finish(execution)
      expect(stdout).toBe('before\nafter\n')
      expect(exit).toMatchObject({ exitCode: 4, stoppedBy: null, keeperLost: false })
    })

    it(`gets the result of a program that ended meanwhile (${isolation})`, async () => {
      const order = await bench.anOrder(['sh', '-c', WAIT_FOR_GO], { isolation })
      await startAndDie([order])
      await letGo(order)
      await vi.waitFor(() => expect(existsSync(join(order.folder, 'exit.json'))).toBe(true), SOON)
      const executor = bench.executor()
      const [execution] = await executor.reattach()
      if (execution === undefined) throw new Error('nothing was found')
      const { exit, stdout } = await finish(execution)
      expect(stdout).toBe('before\nafter\n')
      expect(exit).toMatchObject({ exitCode: 4, keeperLost: false })
      expect(await readExitRecord(order.folder, order.key)).toEqual(exit)
      const next = await executor.start(await bench.anOrder(['true'], { isolation }))
      expect((await finish(next)).exit.exitCode).toBe(0)
    })

    it(`hears that a keeper was killed, and nothing of its tree is left (${isolation})`, async () => {
      const executor = bench.executor()
      const order = await bench.anOrder(['sh', '-c', 'echo ready; setsid sleep 600 & sleep 600'], { isolation })
      const execution = await executor.start(order)
      await printed(execution)
      process.kill(await parentOf(execution.pid), 'SIGKILL')
      const { exit, stdout } = await finish(execution)
      expect(exit).toMatchObject({ keeperLost: true, exitCode: null, signal: null, startError: null, stoppedBy: null })
      expect(stdout).toBe('ready\n')
      expect(await processesWith(`STOKER_ATTEMPT=${order.key}\0`)).toEqual([])
      const next = await executor.start(await bench.anOrder(['true'], { isolation }))
      expect((await finish(next)).exit.exitCode).toBe(0)
    })

    it(`finds no program of a keeper that was killed with its zygote (${isolation})`, async () => {
      const order = await bench.anOrder(['sh', '-c', 'setsid sleep 600 & sleep 600'], { isolation })
      await startAndDie([order])
      for (const pid of await processesWith(bench.runtimeDir)) process.kill(pid, 'SIGKILL')
      const [execution] = await bench.executor().reattach()
      if (execution === undefined) throw new Error('nothing was found')
      expect((await finish(execution)).exit).toMatchObject({ keeperLost: true, exitCode: null })
      expect(await processesWith(`STOKER_ATTEMPT=${order.key}\0`)).toEqual([])
      expect(await bench.executor().reattach()).toEqual([])
    })
  }

  it('and never comes back leaves its program to the keeper, which stops it and goes', async () => {
    const order = await bench.anOrder(['sleep', '600'])
    await startAndDie([order], 300)
    await vi.waitFor(() => expect(existsSync(join(order.folder, 'exit.json'))).toBe(true), SOON)
    await bench.expectNobodyLeft()
    const [execution] = await bench.executor().reattach()
    if (execution === undefined) throw new Error('nothing was found')
    expect((await finish(execution)).exit).toMatchObject({
      stoppedBy: 'abandoned',
      signal: 'SIGTERM',
      keeperLost: false,
    })
  })

  it('leaves the deadline to the keeper', async () => {
    const order = await bench.anOrder(['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'], {
      deadlineMs: 300,
      graceMs: 50,
    })
    await startAndDie([order])
    await vi.waitFor(() => expect(existsSync(join(order.folder, 'exit.json'))).toBe(true), SOON)
    const [execution] = await bench.executor().reattach()
    expect(await execution?.ended).toMatchObject({ stoppedBy: 'deadline', signal: 'SIGKILL' })
    await execution?.release()
  })

  it('does not trust what a machine wrote down before its restart', async () => {
    const order = await bench.anOrder(['true'])
    await mkdir(bench.runtimeDir, { mode: 0o700 })
    const bystander = spawn('sleep', ['600'], { env: { ...order.env } })
    const state = { boot: 'an earlier one', pid: bystander.pid, start: '1', key: order.key, folder: order.folder }
    const text = JSON.stringify({ ...state, startedAtMs: 5, leaves: ['/sys/fs/cgroup/none'], uid: null })
    await writeFile(join(bench.runtimeDir, 'k2.json'), `${text}\n`)
    const [execution] = await bench.executor().reattach()
    expect(await execution?.ended).toMatchObject({ keeperLost: true, startedAtMs: 5 })
    await execution?.release()
    expect(existsSync(join(bench.runtimeDir, 'k2.json'))).toBe(false)
    expect(bystander.exitCode).toBeNull()
    bystander.kill('SIGKILL')
    await once(bystander, 'exit')
  })

  it('needs no keeper that holds nothing: closed, all of them leave at once', async () => {
    const executor = bench.executor()
    await finish(await executor.start(await bench.anOrder(['true'])))
    await executor.close('leave-running')
    await bench.expectNobodyLeft()
  })

  it('and replaced while it still lives does not end what the other has taken over', async () => {
    const order = await bench.anOrder(['sh', '-c', WAIT_FOR_GO])
    const before = bench.executor()
    const first = await before.start(order)
    const after = bench.executor()
    const [second] = await after.reattach()
    await printed(second ?? first)
    await before.close('leave-running')
    await letGo(order)
    expect(await second?.ended).toMatchObject({ exitCode: 4, keeperLost: false })
    await second?.release()
  })

  it('may kill its programs as it closes, and hears of that once more afterwards', async () => {
    const executor = bench.executor()
    const execution = await executor.start(await bench.anOrder(['sleep', '600']))
    await executor.close('kill')
    const exit = await execution.ended
    expect(exit).toMatchObject({ stoppedBy: 'canceled', signal: 'SIGKILL' })
    await bench.expectNobodyLeft()
    const [again] = await bench.executor().reattach()
    expect(await again?.ended).toEqual(exit)
    await again?.release()
  })

  it('may also close in order and find its program again', async () => {
    const order = await bench.anOrder(['sh', '-c', WAIT_FOR_GO])
    const executor = bench.executor()
    await executor.start(order)
    await executor.close('leave-running')
    const [execution] = await bench.executor().reattach()
    await letGo(order)
    expect(await execution?.ended).toMatchObject({ exitCode: 4 })
    await execution?.release()
  })
})
