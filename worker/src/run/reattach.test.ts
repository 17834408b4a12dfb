import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { aTask, SessionBench } from './test-session-bench.ts'

const WORKER = fileURLToPath(new URL('./test-session-worker.ts', import.meta.url))
const SOON = { timeout: 20_000, interval: 5 }

/** Notes each task it reads in a file, says half of its answer, and waits for the task's gate before the other half. */
const GATED = `
import json, os, sys, time
ROOT = os.environ["ROOT"]
def emit(event, **fields): print(json.dumps({"event": event, **fields}), flush=True)
emit("worker", status="ready")
for count, line in enumerate(sys.stdin, 1):
    task = json.loads(line)
    with open(ROOT + "/read", "a") as notes: notes.write(task["task_id"] + "\\n")
    emit("text_delta", delta="half of " + task["task_id"])
    while not os.path.exists(ROOT + "/gate-" + task["task_id"]): time.sleep(0.005)
    emit("text", content="%s is number %d" % (task["task_id"], count))
    emit("finish", status="completed")
`

let root: string
let bench: SessionBench | null
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stoker-'))
  bench = null
})
afterEach(async () => {
  if (bench === null) await removeTree(root)
  else await bench.close()
})

const gate = (id: string) => writeFileSync(join(root, `gate-${id}`), '')
const read = (name: string) =>
  existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8').trim().split('\n') : []
const answer = (id: string, n: number) => ({ text: `${id} is number ${n}` })

/** Runs a worker of its own and kills it with SIGKILL once the check holds. */
async function killedWhen(tasks: readonly { readonly job: number }[], check: () => void): Promise<void> {
  const order = { root, program: GATED, session: { env: { ROOT: root } }, tasks, ends: join(root, 'ends') }
  const child = spawn(process.execPath, ['--import', 'tsx', WORKER, JSON.stringify(order)], { stdio: 'inherit' })
  try {
    await vi.waitFor(check, SOON)
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
}

describe('a worker that is killed while a session has tasks', () => {
  it('goes on with the task that was being answered, and gives the next ones to the same program', async () => {
    await killedWhen([{ job: 2 }, { job: 3 }], () => expect(read('read')).toEqual(['job-2']))
    bench = await SessionBench.open(root)
    expect(bench.holding.map(({ fence, state }) => [fence.job, state])).toEqual(
      expect.arrayContaining([
        [1, 'running'],
        [2, 'running'],
        [3, 'starting'],
      ]),
    )
    gate('job-2')
    gate('job-3')
    for (const [job, n] of [
      [2, 1],
      [3, 2],
    ] as const) {
      const task = aTask(job, bench.left)
      expect(await bench.ended(task)).toMatchObject({ outcome: 'completed', result: answer(`job-${job}`, n) })
      expect(bench.stdoutOf(task).match(/half of/g)).toHaveLength(1)
    }
    const next = bench.task(4, bench.left)
    gate('job-4')
    expect((await bench.ended(next)).result).toEqual(answer('job-4', 3))
    expect(read('read')).toEqual(['job-2', 'job-3', 'job-4'])
  })

  it('hears of answers that were given while it was dead', async () => {
    await killedWhen([{ job: 2 }], () => expect(read('read')).toEqual(['job-2']))
    gate('job-2')
    const folder = join(root, 'attempts', '1-1-1')
    await vi.waitFor(() => expect(readFileSync(join(folder, 'stdout.0'), 'utf8')).toContain('finish'), SOON)
    bench = await SessionBench.open(root)
    expect((await bench.ended(aTask(2, bench.left))).result).toEqual(answer('job-2', 1))
    expect(bench.reports.filter(({ kind }) => kind === 'ended')).toHaveLength(1)
  })

  it('tells no end again that was recorded as told', async () => {
    gate('job-2')
    await killedWhen([{ job: 2 }, { job: 3 }], () => expect(read('ends')).toHaveLength(1))
    bench = await SessionBench.open(root, new Set(['2-1-1']))
    gate('job-3')
    expect((await bench.ended(aTask(3, bench.left))).result).toEqual(answer('job-3', 2))
    expect(bench.reports.filter(({ kind }) => kind === 'ended').map(({ fence }) => fence.job)).toEqual([3])
    expect(read('read')).toEqual(['job-2', 'job-3'])
  })

  it('at any moment loses and repeats nothing', async () => {
    const jobs = Array.from({ length: 40 }, (_, i) => i + 2)
    for (const job of jobs) gate(`job-${job}`)
    const told = new Set<string>()
    const results = new Map<string, unknown>()
    await killedWhen(
      jobs.map(job => ({ job })),
      () => expect(read('ends').length).toBeGreaterThan(5),
    )
    for (const line of read('ends')) {
      const [id, result] = JSON.parse(line)
      told.add(`${id.slice(4)}-1-1`)
      results.set(id, result)
    }
    bench = await SessionBench.open(root, told)
    for (const job of jobs.filter(each => !told.has(`${each}-1-1`)))
      results.set(`job-${job}`, (await bench.ended(aTask(job, bench.left))).result)
    expect(read('read')).toEqual(jobs.map(job => `job-${job}`))
    expect(results).toEqual(new Map(jobs.map((job, i) => [`job-${job}`, answer(`job-${job}`, i + 1)])))
  })

  it('ends tasks whose program died meanwhile', async () => {
    await killedWhen([{ job: 2 }], () => expect(read('read')).toEqual(['job-2']))
    const pid = Number(readFileSync(join(root, 'run', 'k0.json'), 'utf8').match(/"pid": (\d+)/)?.[1])
    process.kill(pid, 'SIGKILL')
    bench = await SessionBench.open(root)
    expect(await bench.ended(aTask(2, bench.left))).toMatchObject({ outcome: 'lost' })
    expect(await bench.ended(bench.left)).toMatchObject({ outcome: 'lost' })
  })
})
