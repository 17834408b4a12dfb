import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { aTask, SessionBench } from './test-session-bench.ts'

/** The most processor time a worker may take for a task, in lines sent to a program and answered, with nothing around them: both are measured here, and a busy machine slows them alike. */
const MOST_LINES = 20
const COUNT = 4_000

const ECHO = `
import json, sys
from time import time
print('{"event": "worker", "status": "ready"}', flush=True)
for line in sys.stdin:
    task = json.loads(line)
    print(json.dumps({"event": "finish", "status": "completed", "task_id": task["task_id"], "result": time() * 1000}), flush=True)
`

/** Processor time of a line to a program and its answer, with nothing around it. */
async function lineMicroseconds(): Promise<number> {
  const child = spawn('python3', ['-c', ECHO], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  await lines.next()
  const used = process.cpuUsage()
  for (let n = 0; n < COUNT; n += 1) {
    child.stdin.write(`${JSON.stringify({ task_id: `job-${n}`, input: { n } })}\n`)
    await lines.next()
  }
  const { user, system } = process.cpuUsage(used)
  child.stdin.end()
  await once(child, 'exit')
  return (user + system) / COUNT
}

let bench: SessionBench
beforeEach(async () => {
  bench = await SessionBench.open()
})
afterEach(() => bench.close())

for (const concurrency of [1, 16]) {
  it(`a session with ${concurrency} places takes little of its worker for a task`, async () => {
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
    const mine = (user + system) / COUNT
    const line = await lineMicroseconds()
    console.log(
      `the worker itself takes ${Math.round(mine)} microseconds of processor time for each, a line to a program and back ${Math.round(line)}`,
    )
    expect(mine / line).toBeLessThan(MOST_LINES)
  })
}
