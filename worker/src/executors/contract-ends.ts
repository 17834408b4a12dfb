import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Execution, Executor, LaunchOrder } from './port.ts'
import { type BenchEngine, finish, PYTHON, printed, processesWith, Workbench } from './workbench.ts'

/** Leaves its session, its parents and its name behind, ignores SIGTERM, and every process is replaced within a millisecond. */
const HYDRA = `
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("ready", flush=True)
        while True:
            if os.fork():
                os._exit(0)
            time.sleep(0.001)
    os._exit(0)
time.sleep(600)
`

const FORK_UNTIL_REFUSED = `
import os, time
made = 0
try:
    while made < 1000:
        if os.fork() == 0:
            time.sleep(600)
        made += 1
except OSError:
    pass
print(made, flush=True)
`

/** What every way of running a program promises about stopping it, its whole tree, and its limits. */
export function describeEnds(isolation: LaunchOrder['isolation'], engine: BenchEngine | null = null): void {
  describe(`the end of a program with isolation ${isolation}${engine === null ? '' : ` on ${engine.kind}`}`, () => {
    let bench: Workbench
    let executor: Executor
    beforeAll(async () => {
      bench = await Workbench.open(engine)
      executor = bench.executor()
    })
    afterAll(() => bench.close())

    const start = async (argv: readonly string[], changes: Partial<LaunchOrder> = {}): Promise<Execution> =>
      executor.start(await bench.anOrder(argv, { isolation, ...changes }))
    const expectGone = async ({ key }: Execution) => expect(await processesWith(`STOKER_ATTEMPT=${key}\0`)).toEqual([])

    it('comes by the deadline for a silent program that ignores SIGTERM', async () => {
      const script = 'trap "" TERM; while :; do sleep 1; done'
      const execution = await start(['sh', '-c', script], { deadlineMs: 200, graceMs: 100 })
      const exit = await execution.ended
      await expectGone(execution)
      await execution.release()
      expect(exit).toMatchObject({ stoppedBy: 'deadline', signal: 'SIGKILL', exitCode: null })
      expect(exit.endedAtMs - exit.startedAtMs).toBeGreaterThanOrEqual(290)
    })

    it('leaves a canceled program the time to save its work', async () => {
      const script = 'trap "echo saved >state; exit 5" TERM; echo ready; while :; do sleep 0.05; done'
      const execution = await start(['sh', '-c', script])
      await printed(execution)
      execution.stop('canceled')
      const { exit } = await finish(execution)
      expect(exit).toMatchObject({ stoppedBy: 'canceled', exitCode: 5 })
      expect(await readFile(join(execution.folder, 'work', 'state'), 'utf8')).toBe('saved\n')
    })

    it('reports SIGTERM for a program that dies of it', async () => {
      const execution = await start(['sh', '-c', 'echo ready; exec sleep 600'])
      await printed(execution)
      execution.stop('canceled')
      expect((await finish(execution)).exit).toMatchObject({ stoppedBy: 'canceled', signal: 'SIGTERM' })
    })

    it('comes sooner when a second stop shortens the grace', async () => {
      const execution = await start(['sh', '-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'], {
        graceMs: 60_000,
      })
      await printed(execution)
      execution.stop('canceled')
      execution.stop('canceled', 0)
      expect((await finish(execution)).exit).toMatchObject({ stoppedBy: 'canceled', signal: 'SIGKILL' })
    })

    it('takes along a tree that detaches, ignores signals and forks for ever', async () => {
      const execution = await start([PYTHON, '-c', HYDRA], { graceMs: 50 })
      await printed(execution)
      execution.stop('canceled')
      const { exit } = await finish(execution)
      expect(exit).toMatchObject({ stoppedBy: 'canceled', signal: 'SIGKILL' })
      await expectGone(execution)
    })

    it('takes along children left in the background', async () => {
      const execution = await start(['sh', '-c', 'setsid sleep 600 & echo started'])
      const { exit, stdout } = await finish(execution)
      expect(stdout).toBe('started\n')
      expect(exit).toMatchObject({ exitCode: 0, stoppedBy: null })
      expect(exit.endedAtMs - exit.startedAtMs).toBeLessThan(5_000)
      await expectGone(execution)
    })

    it('leaves the machine to others however many processes it forks', async () => {
      const script = 'for i in $(seq 60); do (while :; do :; done) & done; wait'
      const execution = await start(['sh', '-c', script], {
        limits: { cpuShare: 1, memoryBytes: null, pids: 100, diskBytes: null },
      })
      await vi.waitFor(async () => expect((await execution.usage())?.cpuSeconds ?? 0).toBeGreaterThan(0.2), {
        timeout: 20_000,
      })
      const cpuSeconds = async () => (await execution.usage())?.cpuSeconds ?? 0
      const taken = await cpuSeconds()
      const began = process.cpuUsage()
      const from = performance.now()
      while (performance.now() - from < 400);
      const { user, system } = process.cpuUsage(began)
      const share = (user + system) / 1e6 / ((await cpuSeconds()) - taken)
      execution.stop('canceled', 0)
      const { exit } = await finish(execution)
      // Side by side with sixty equals this process would get a sixtieth of what they get, however busy the machine is.
      if (exit.limitsBy === 'cgroup') expect(share).toBeGreaterThan(0.2)
      else console.log(`the processor is not shared by ${exit.limitsBy}: a fork bomb takes what it can get`)
    })

    it('comes to a program that takes more memory than its limit', async () => {
      const limits = { cpuShare: null, memoryBytes: 64_000_000, pids: 50, diskBytes: null }
      const execution = await start([PYTHON, '-c', 'x = b"x" * 300_000_000\nprint(len(x))'], { limits })
      const { exit, stdout } = await finish(execution)
      expect(stdout).toBe('')
      expect(exit.exitCode === 0).toBe(false)
      if (exit.limitsBy === 'cgroup') expect(exit).toMatchObject({ oom: true, signal: 'SIGKILL' })
      else console.log(`memory was limited by ${exit.limitsBy}: the kernel reports no oom`)
    })

    it('does not come to the machine by a fork bomb', async () => {
      const execution = await start([PYTHON, '-c', FORK_UNTIL_REFUSED], {
        limits: { cpuShare: null, memoryBytes: null, pids: 20, diskBytes: null },
      })
      const { exit, stdout } = await finish(execution)
      expect(exit.exitCode).toBe(0)
      if (exit.limitsBy === 'cgroup') expect(Number(stdout)).toBeLessThan(20)
      else console.log(`processes were limited by ${exit.limitsBy}: a shared uid makes the number approximate`)
      await expectGone(execution)
    })
  })
}
