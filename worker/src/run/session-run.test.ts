import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SessionBench } from './test-session-bench.ts'

/** Answers every task, and remembers how many there were. */
const ECHO = `
import json, os, sys
def emit(event, **fields): print(json.dumps({"event": event, **fields}), flush=True)
emit("connection", status="connected")
emit("worker", status="ready")
for count, line in enumerate(sys.stdin, 1):
    task = json.loads(line)
    emit("text", content=json.dumps([count, task["metadata"], task["task_id"]]))
    emit("finish", status="completed")
`

/** Takes all it is given, answers in the reverse order once it has enough, naming each. */
const REVERSED = `
import json, sys
print(json.dumps({"event": "worker", "status": "waiting"}), flush=True)
held = []
for line in sys.stdin:
    held.append(json.loads(line)["task_id"])
    if len(held) < 4: continue
    print("nobody's line", flush=True)
    for task in reversed(held):
        print(json.dumps({"type": "text", "task_id": task, "data": {"content": "for " + task}}), flush=True)
    for task in reversed(held):
        print(json.dumps({"event": "finish", "data": {"status": "completed", "task_id": task}}), flush=True)
    held = []
`

/** Does what its task says. */
const OBEDIENT = `
import json, os, sys, time
def emit(event, **fields): print(json.dumps({"event": event, **fields}), flush=True)
emit("worker", status="ready")
for line in sys.stdin:
    exec(json.loads(line)["metadata"]["do"])
`
const FINISH = 'emit("finish", status="completed")'

let bench: SessionBench
beforeEach(async () => {
  bench = await SessionBench.open()
})
afterEach(() => bench.close())

const soon = (check: () => void) => vi.waitFor(check, { timeout: 10_000 })
const text = (value: unknown) => ({ text: JSON.stringify(value).replaceAll(',', ', ').replaceAll(':', ': ') })

describe('a session', () => {
  it('answers one task after the other with the same program, each with its own output', async () => {
    const session = bench.session(ECHO)
    await soon(() => expect(bench.readySessions).toEqual([session.fence]))
    for (const job of [2, 3, 4]) {
      const task = bench.task(job, session, { n: job })
      const ended = await bench.ended(task)
      expect(ended).toMatchObject({ outcome: 'completed', exitCode: null, error: null, note: null })
      expect(ended.result).toEqual(text([job - 1, { n: job }, task.id]))
      expect(bench.stdoutOf(task).trim().split('\n')).toHaveLength(2)
      await bench.acked(task)
    }
    const running = bench.reports.filter(report => report.kind === 'running')
    expect(running.map(({ fence, isolation }) => [fence.job, isolation])).toEqual([
      [1, 'none'],
      ...[2, 3, 4].map(job => [job, 'session']),
    ])
    expect(bench.stdoutOf(session)).toContain('connected')
    expect(bench.stdoutOf(session)).not.toContain('finish')
  })

  it('runs in a sandbox as well', async () => {
    const session = bench.session(ECHO, { isolation: 'sandbox', network: 'none' })
    const task = bench.task(2, session, { where: 'inside' })
    expect((await bench.ended(task)).result).toEqual(text([1, { where: 'inside' }, task.id]))
    const [first] = bench.reports.filter(({ fence }) => fence.job === session.fence.job)
    expect(first).toMatchObject({ kind: 'running', isolation: 'sandbox' })
    bench.runner.stop(session.fence, { cause: 'session', text: 'manual' })
    expect(await bench.ended(session)).toMatchObject({ outcome: 'completed', note: 'manual', exitCode: 0 })
  })

  it('leaves when the hub asks it to, and that is no failure', async () => {
    const session = bench.session(ECHO)
    await bench.ended(bench.task(2, session))
    bench.runner.stop(session.fence, { cause: 'session', text: 'idle_timeout' })
    expect(await bench.ended(session)).toMatchObject({ outcome: 'completed', note: 'idle_timeout', error: null })
    const late = bench.task(3, session)
    expect(bench.reports.at(-1)).toMatchObject({ kind: 'declined', fence: late.fence })
  })

  it('gives the task that came first what it printed from the start, and its environment', async () => {
    const session = bench.session(`
import json, os, sys, time
print(json.dumps({"event": "worker", "status": "loading"}), flush=True)
sys.stdin.readline()
print(json.dumps({"event": "text", "content": " ".join(os.environ[n] for n in ("TASK_ID", "SESSION_ID", "METADATA_WHO"))}), flush=True)
print(json.dumps({"event": "finish"}), flush=True)
sys.stdin.read()
`)
    const task = bench.task(2, session, { who: 'me' })
    expect((await bench.ended(task)).result).toEqual({ text: 'job-2 job-1 me' })
    expect(bench.stdoutOf(task)).toContain('loading')
    expect(bench.readySessions).toEqual([session.fence])
  })

  it('shares its output out among several tasks at once', async () => {
    const session = bench.session(REVERSED, { session: { concurrency: 4 } })
    await soon(() => expect(bench.readySessions).toHaveLength(1))
    const tasks = [2, 3, 4, 5, 6, 7, 8, 9].map(job => bench.task(job, session))
    for (const task of tasks) {
      expect((await bench.ended(task)).result).toEqual({ text: `for ${task.id}` })
      expect(bench.stdoutOf(task).trim().split('\n')).toHaveLength(2)
    }
    expect(bench.stdoutOf(session).match(/nobody's line/g)).toHaveLength(2)
  })

  it('hears garbage, torn characters and long lines as they are', async () => {
    const session = bench.session(OBEDIENT)
    const garbage = bench.task(2, session, {
      do: `sys.stdout.buffer.write(b"\\xff\\xfe{]\\n{ not json\\n\\n"); sys.stdout.flush(); ${FINISH}`,
    })
    expect(await bench.ended(garbage)).toMatchObject({ outcome: 'completed', result: null })
    const torn = bench.task(3, session, {
      do: `data = json.dumps({"event": "text", "content": "€" * 20000}, ensure_ascii=False).encode() + b"\\n"
for at in range(0, len(data), 1001): os.write(1, data[at:at + 1001])
${FINISH}`,
    })
    expect((await bench.ended(torn)).result).toEqual({ text: '€'.repeat(20_000) })
    const long = bench.task(4, session, { do: `print("x" * 3_000_000, flush=True); ${FINISH}` })
    expect((await bench.ended(long)).outcome).toBe('completed')
    expect(bench.stdoutOf(long)).toContain(`${'x'.repeat(3_000_000)}\n`)
  })

  it('goes on after a task that failed in order', async () => {
    const session = bench.session(OBEDIENT)
    const bad = bench.task(2, session, { do: 'emit("task_finish", status="failed", error="too hard")' })
    expect(await bench.ended(bad)).toMatchObject({ outcome: 'failed', error: 'too hard' })
    expect((await bench.ended(bench.task(3, session, { do: FINISH }))).outcome).toBe('completed')
  })

  it('limits the output of each task by itself', async () => {
    const session = bench.session(OBEDIENT, { outputLimit: '1kB' })
    for (const job of [2, 3, 4]) {
      const chatty = { do: `for i in range(100): print("x" * 99)\n${FINISH}` }
      const task = bench.task(job, session, chatty, { outputLimit: '2kB' })
      expect(await bench.ended(task)).toMatchObject({ outcome: 'completed', note: expect.stringContaining('dropped') })
      expect(bench.stdoutOf(task)).toContain('the output limit is reached')
      expect(bench.stdoutOf(task)).toContain('finish')
    }
  })

  it('keeps its disk small however much it prints', async () => {
    const session = bench.session(OBEDIENT)
    const folder = join(bench.root, 'attempts', '1-1-1')
    for (let job = 2; job < 12; job += 1) {
      const task = bench.task(job, session, { do: `for i in range(60): print("x" * 99_999)\n${FINISH}` })
      expect((await bench.ended(task)).outcome).toBe('completed')
      await bench.acked(task)
    }
    await soon(() => expect(segmentsIn(folder).length).toBeLessThan(4))
  })
})

describe('a session whose program ends', () => {
  it('with a failure takes its task along, and says the last words', async () => {
    const session = bench.session(OBEDIENT)
    const task = bench.task(2, session, { do: 'sys.stderr.write("no memory left\\\\n"); os._exit(3)' })
    expect(await bench.ended(task)).toMatchObject({
      outcome: 'failed',
      exitCode: 3,
      error: expect.stringMatching(/^exited with code 3/),
    })
    expect(await bench.ended(session)).toMatchObject({ outcome: 'failed', exitCode: 3 })
    bench.task(3, session)
    expect(bench.reports.at(-1)).toMatchObject({ kind: 'declined', reason: expect.stringContaining('session') })
  })

  it('as a one-off program does has answered one task; the next one runs elsewhere', async () => {
    const once = `
import json, sys
print(json.dumps({"event": "text", "content": "42"}), flush=True)
print(json.dumps({"event": "finish", "status": "completed"}), flush=True)
print(json.dumps({"event": "worker", "status": "cleaning_up"}), flush=True)
`
    const session = bench.session(once)
    const first = bench.task(2, session)
    const second = bench.task(3, session)
    expect(await bench.ended(first)).toMatchObject({ outcome: 'completed', result: { text: '42' } })
    expect(await bench.ended(second)).toMatchObject({ outcome: 'lost' })
    expect(await bench.ended(session)).toMatchObject({ outcome: 'completed', note: 'worker_exited' })
  })

  it('is stopped with a task that takes too long; others in it run again', async () => {
    const session = bench.session('import time\ntime.sleep(600)', { session: { concurrency: 2 } })
    const slow = bench.task(2, session, {}, { timeout: '300ms' })
    const other = bench.task(3, session)
    expect(await bench.ended(slow)).toMatchObject({ outcome: 'timed_out', error: 'Task timeout exceeded' })
    expect(await bench.ended(other)).toMatchObject({ outcome: 'lost' })
    expect(await bench.ended(session)).toMatchObject({ outcome: 'failed', error: 'its task job-2 timed out' })
  })

  it('is stopped with a task that is canceled, but not with one that only waited', async () => {
    const session = bench.session('import time\nprint("here", flush=True)\ntime.sleep(600)')
    const placed = bench.task(2, session)
    const waiting = bench.task(3, session)
    await soon(() => expect(bench.reports.some(report => report.kind === 'running')).toBe(true))
    bench.runner.stop(waiting.fence, { cause: 'canceled', text: 'canceled by ann' })
    expect(await bench.ended(waiting)).toMatchObject({ outcome: 'canceled', error: 'canceled by ann' })
    bench.runner.stop(placed.fence, { cause: 'canceled', text: 'canceled by bob' })
    expect(await bench.ended(placed)).toMatchObject({ outcome: 'canceled', error: 'canceled by bob' })
    expect(await bench.ended(session)).toMatchObject({ outcome: 'failed', error: 'its task job-2 was canceled' })
  })

  it('because the hub wants it takes tasks along that do not finish in time', async () => {
    const session = bench.session('import sys\nprint("here", flush=True)\nsys.stdin.read()')
    const task = bench.task(2, session)
    bench.runner.stop(session.fence, { cause: 'session', text: 'max_lifetime' })
    expect(await bench.ended(task)).toMatchObject({ outcome: 'failed', error: 'session ended: max_lifetime' })
    expect(await bench.ended(session)).toMatchObject({ outcome: 'completed', note: 'max_lifetime' })
  })

  it('with its worker lets its tasks run again', async () => {
    const session = bench.session('import sys\nsys.stdin.read()')
    const task = bench.task(2, session)
    await soon(() => expect(bench.reports.length).toBeGreaterThan(0))
    bench.runner.stopAll({ cause: 'shutdown', text: 'its worker was shut down' })
    expect(await bench.ended(task)).toMatchObject({ outcome: 'lost' })
    expect(await bench.ended(session)).toMatchObject({ outcome: 'completed', note: 'shutdown' })
    await bench.runner.idle()
  })

  it('on a draining worker does so after its last task', async () => {
    const session = bench.session(OBEDIENT)
    const gate = join(bench.root, 'gate')
    const task = bench.task(2, session, {
      do: `while not os.path.exists(${JSON.stringify(gate)}): time.sleep(0.01)\n${FINISH}`,
    })
    await soon(() => expect(bench.readySessions).toHaveLength(1))
    bench.runner.drain(true)
    expect(bench.runner.count).toBe(2)
    writeFileSync(gate, '')
    expect((await bench.ended(task)).outcome).toBe('completed')
    expect(await bench.ended(session)).toMatchObject({ outcome: 'completed', note: 'shutdown' })
  })

  it('of no use because its program closed its input is ended, and its tasks run elsewhere', async () => {
    const session = bench.session(
      'import os, time\nos.close(0)\nprint(\'{"event":"worker","status":"ready"}\', flush=True)\ntime.sleep(600)',
    )
    await soon(() => expect(bench.readySessions).toHaveLength(1))
    const task = bench.task(2, session)
    expect(await bench.ended(task)).toMatchObject({
      outcome: 'lost',
      error: 'the program of its session has closed its input',
    })
    const ended = bench.ended(session)
    bench.runner.stopAll({ cause: 'shutdown', text: 'now' }, 0)
    expect(await ended).toMatchObject({ outcome: 'completed', note: expect.stringContaining('closed its input') })
  })
})

it('a task for a session that is not here is declined with a sentence', () => {
  const session = bench.session('pass')
  const elsewhere = { ...session, fence: { ...session.fence, attempt: 7 } }
  const task = bench.task(2, elsewhere)
  expect(bench.reports).toMatchObject([
    { kind: 'declined', fence: task.fence, reason: 'its session is not on this worker, or not any more' },
  ])
  expect(existsSync(join(bench.root, 'attempts', '2-1-1'))).toBe(false)
})

function segmentsIn(folder: string): string[] {
  return readdirSync(folder).filter(name => name.startsWith('stdout.'))
}
