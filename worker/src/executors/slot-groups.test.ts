import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Executor, LaunchOrder } from './port.ts'
import { finish, printed, Workbench } from './workbench.ts'

const LIMITS = { cpuShare: 1, memoryBytes: null, pids: 50, diskBytes: null }
const OWN_GROUPS = ['sh', '-c', 'cat /proc/self/cgroup']
const EIGHT_AT_ONCE = 'for i in 1 2 3 4 5 6 7 8; do sleep 0.01 & done; wait; echo all'

let bench: Workbench
let executor: Executor
beforeAll(async () => {
  bench = await Workbench.open()
  executor = bench.executor({ slots: 1 })
})
afterAll(() => bench.close())

async function groupsIn(changes: Partial<LaunchOrder>): Promise<string[]> {
  const { exit, stdout } = await finish(await executor.start(await bench.anOrder(OWN_GROUPS, changes)))
  if (exit.limitsBy !== 'cgroup') console.log(`no groups to look at: limits are held by ${exit.limitsBy}`)
  return exit.limitsBy === 'cgroup' ? [...new Set(stdout.match(/stoker-[a-z0-9-]+$/gm))] : []
}

it('programs of one slot share its groups, and one with a memory limit has groups of its own', async () => {
  const first = await groupsIn({ limits: LIMITS })
  expect(await groupsIn({ limits: LIMITS })).toEqual(first)
  const limited = await groupsIn({ limits: { ...LIMITS, memoryBytes: 500_000_000 } })
  expect(limited).not.toEqual(first)
  expect(await groupsIn({ limits: LIMITS })).toEqual(first)
  if (first.length > 0)
    expect([first, limited]).toEqual([[expect.stringMatching(/^stoker-k\d+$/)], [expect.any(String)]])
})

it('a slot whose program was killed, young or old, gives the next one all it may have', async () => {
  for (const isOld of [false, true]) {
    const order = await bench.anOrder(['sh', '-c', `${isOld ? 'sleep 0.3; ' : ''}echo ready; sleep 600`])
    const killed = await executor.start(order)
    await printed(killed)
    killed.stop('canceled', 0)
    expect((await finish(killed)).exit).toMatchObject({ stoppedBy: 'canceled', signal: 'SIGKILL' })
    const next = await finish(
      await executor.start(await bench.anOrder(['sh', '-c', EIGHT_AT_ONCE], { limits: LIMITS })),
    )
    expect(next.stdout).toBe('all\n')
  }
})

it('a program that was over before it was told of is told of whole', async () => {
  const execution = await executor.start(await bench.anOrder(['true']))
  expect((await finish(execution)).exit).toMatchObject({ exitCode: 0, startError: null, keeperLost: false })
  const loud = await finish(await executor.start(await bench.anOrder(['echo', 'quick'])))
  expect(loud.stdout).toBe('quick\n')
})
