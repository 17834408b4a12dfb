import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Executor, LaunchOrder } from './port.ts'
import { finish, PYTHON, Workbench } from './workbench.ts'

const SLOTS = 8
/** The measured numbers are printed; these floors are a fifth of them, for busy machines. */
const FLOOR_PER_SECOND = { none: 200, sandbox: 40 }

const TICK = `
import time
for _ in range(200):
    print(time.time() * 1000, flush=True)
    time.sleep(0.005)
`

describe('the speed of keepers', () => {
  let bench: Workbench
  let executor: Executor
  beforeAll(async () => {
    bench = await Workbench.open()
    executor = bench.executor({ slots: SLOTS })
  })
  afterAll(() => bench.close())

  const runAll = async (orders: LaunchOrder[]) => {
    for (let order = orders.pop(); order !== undefined; order = orders.pop()) {
      const execution = await executor.start(order)
      expect((await execution.ended).exitCode).toBe(0)
      await execution.release()
    }
  }

  for (const [isolation, count] of [
    ['none', 600],
    ['sandbox', 120],
  ] as const) {
    it(`starts many short programs (${isolation})`, async () => {
      const anOrder = () => bench.anOrder(['true'], { isolation })
      await runAll(await Promise.all(Array.from({ length: SLOTS }, anOrder)))
      const orders = await Promise.all(Array.from({ length: count }, anOrder))
      const from = performance.now()
      await Promise.all(Array.from({ length: SLOTS }, () => runAll(orders)))
      const perSecond = Math.round((count * 1000) / (performance.now() - from))
      console.log(`isolation ${isolation}: ${perSecond} programs a second with ${SLOTS} slots`)
      expect(perSecond).toBeGreaterThan(FLOOR_PER_SECOND[isolation])
    })
  }

  it('tells of a line soon after it was printed', async () => {
    const order = await bench.anOrder([PYTHON, '-c', TICK])
    const execution = await executor.start(order)
    const delays: number[] = []
    let read = 0
    execution.onOutput(({ stdout }) => {
      const now = performance.timeOrigin + performance.now()
      const bytes = readFileSync(join(order.folder, 'stdout')).subarray(read, stdout)
      read = stdout
      delays.push(now - Number(bytes.toString().trim().split('\n').at(-1)))
    })
    await finish(execution)
    const median = delays.sort((a, b) => a - b)[delays.length >> 1] ?? Number.POSITIVE_INFINITY
    console.log(`output is told of after ${median.toFixed(2)} ms (median of ${delays.length})`)
    expect(median).toBeLessThan(5)
  })

  it('keeps a flood of output out of our memory', async () => {
    const before = process.memoryUsage().rss
    const execution = await executor.start(
      await bench.anOrder(['head', '-c', '300000000', '/dev/zero'], { outputLimitBytes: 1e9 }),
    )
    let peak = before
    let notices = 0
    execution.onOutput(() => {
      notices++
      peak = Math.max(peak, process.memoryUsage().rss)
    })
    const exit = await execution.ended
    await execution.release()
    const seconds = (exit.endedAtMs - exit.startedAtMs) / 1000
    console.log(`300 MB in ${seconds} s, ${notices} notices, ${Math.round((peak - before) / 1e6)} MB more memory`)
    expect(peak - before).toBeLessThan(60_000_000)
  })
})
