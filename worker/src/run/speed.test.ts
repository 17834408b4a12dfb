import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { aTask, SessionBench } from './test-session-bench.ts'

/** The measured numbers are printed; on a busy machine only the worker's own share of the millisecond is certain. */
const MOST_MICROSECONDS = 900
const COUNT = 4_000

const ECHO = `
import json, sys
from time import time
print('{"event": "worker", "status": "ready"}', flush=True)
for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps({"event": "finish", "status": "completed", "task_id": task["task_id"], "result": time() * 1000}), flush=True)
`

let bench: SessionBench
beforeEach(async () => {
  bench = await SessionBench.open()
})
afterEach(() => bench.close())

for (const concurrency of [1, 16]) {
  it(`a session with ${concurrency} places takes well below a millisecond of its worker for a task`, async () => {
    const session = bench.session(ECHO, { session: { concurrency } })
    await vi.waitFor(() => expect(bench.readySessions).toHaveLength(1), { timeout: 10_000 })
    const ordinary = aTask(0, session, { n: 1 })
    let next = 1
    const delays: number[] = []
    const lane = async () => {
      while (next < COUNT) {
        next += 1
        const givenAt = performance.timeOrigin + performance.now()
        const task = { ...ordinary, id: `job-${next}`, fence: { job: next, epoch: 1, attempt: 1 } }
        bench.runner.start(task)
        const { result, outcome } = await bench.ended(task)
        expect(outcome).toBe('completed')
        delays.push(Number(result) - givenAt)
        await bench.acked(task)
      }
    }
    const from = performance.now()
    const used = process.cpuUsage()
    await Promise.all(Array.from({ length: concurrency }, lane))
    const perSecond = Math.round((COUNT * 1000) / (performance.now() - from))
    const { user, system } = process.cpuUsage(used)
    const median = delays.sort((a, b) => a - b)[delays.length >> 1] ?? 0
    console.log(
      `${concurrency} places: ${perSecond} tasks a second, the program has one after ${median.toFixed(2)} ms (median)`,
    )
    console.log(
      `the worker itself takes ${Math.round((user + system) / COUNT)} microseconds of processor time for each`,
    )
    expect((user + system) / COUNT).toBeLessThan(MOST_MICROSECONDS)
  })
}
