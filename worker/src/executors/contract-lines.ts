import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { outputSizes, SegmentReader } from './output-files.ts'
import type { Execution, Executor, LaunchOrder, LinesWritten } from './port.ts'
import { finish, PYTHON, printed, Workbench } from './workbench.ts'

const ECHO = `
import sys
for line in sys.stdin:
    print("heard " + line.strip(), flush=True)
print("end of input", flush=True)
`
const NEVER_READS = `
import sys, time
print("here", flush=True)
while True:
    time.sleep(0.01)
    print("tick", flush=True)
`
const IGNORES_EOF = `
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("here", flush=True)
time.sleep(600)
`
const CLOSES = `
import os, time
os.close(0)
print("closed", flush=True)
time.sleep(600)
`
const FLOODS = `
import sys
for n in range(int(sys.stdin.readline())):
    sys.stdout.buffer.write(b"%07d\\n" % n * 131072)
print("done", flush=True)
`

/** What every way of running a program promises about one that takes lines. */
export function describeLines(isolation: LaunchOrder['isolation']): void {
  describe(`a program that takes lines with isolation ${isolation}`, () => {
    let bench: Workbench
    let executor: Executor
    beforeAll(async () => {
      bench = await Workbench.open()
      executor = bench.executor()
    })
    afterAll(() => bench.close())

    const start = async (program: string, changes: Partial<LaunchOrder> = {}): Promise<Execution> =>
      executor.start(await bench.anOrder([PYTHON, '-c', program], { isolation, takesLines: true, ...changes }))

    it('gets each line once, in order, however often it is given', async () => {
      const execution = await start(ECHO)
      execution.line(1, 'one')
      execution.line(2, 'zwei ünï')
      execution.line(1, 'one again')
      await written(execution, 2)
      execution.line(2, 'two again')
      execution.line(3, 'x'.repeat(300_000))
      await written(execution, 3)
      execution.endInput(10_000)
      const { exit } = await finish(execution)
      expect(said(execution)).toEqual(['heard one', 'heard zwei ünï', `heard ${'x'.repeat(300_000)}`, 'end of input'])
      expect(exit).toMatchObject({ exitCode: 0, stoppedBy: 'eof', lines: 3 })
    })

    it('may not read at all: its output and its end are heard all the same, and the rest waits with the worker', async () => {
      const execution = await start(NEVER_READS)
      const line = 'x'.repeat(100_000)
      for (let n = 1; n <= 50; n += 1) execution.line(n, line)
      await printed(execution, 100)
      expect(await execution.usage()).not.toBeNull()
      execution.stop('canceled', 0)
      const { exit } = await finish(execution)
      expect(exit).toMatchObject({ stoppedBy: 'canceled', lines: 0 })
    })

    it('is stopped when it does not leave at the end of its input', async () => {
      const execution = await start(IGNORES_EOF, { graceMs: 50 })
      await printed(execution)
      execution.endInput(50)
      expect((await finish(execution)).exit).toMatchObject({ stoppedBy: 'eof', signal: 'SIGKILL' })
    })

    it('may close its input', async () => {
      const execution = await start(CLOSES)
      await printed(execution)
      execution.line(1, 'into nothing')
      if (isolation === 'none') await vi.waitUntil(() => latest(execution).refused, { timeout: 10_000 })
      else console.log('bubblewrap keeps its own end of the pipe open: nobody can tell that the program closed it')
      execution.stop('canceled', 0)
      await finish(execution)
    })

    it('prints for ever without filling the disk or losing a line, also when nobody listens for a while', async () => {
      const execution = await start(FLOODS, { outputLimitBytes: 1000 })
      execution.line(1, String(MEGABYTES))
      const waits = new Promise<void>(resolve =>
        execution.onOutput(({ stdout }) => void (stdout >= BACKLOG_BYTES && resolve())),
      )
      await waits
      const reader = new SegmentReader(execution.folder)
      const buffer = Buffer.alloc(1 << 20)
      const wrong: number[] = []
      let at = 0
      execution.onOutput(({ stdout }) => {
        for (; at + buffer.length <= stdout; at += buffer.length) {
          if (reader.read(at, buffer) < buffer.length || !buffer.equals(megabyte(at / buffer.length))) wrong.push(at)
        }
        execution.heard(at)
      })
      const { exit } = await finish(execution)
      expect(exit).toMatchObject({ exitCode: 0, droppedBytes: { stdout: 0, stderr: 0 } })
      expect((await outputSizes(execution.folder)).stdout).toBe(MEGABYTES * 2 ** 20 + 5)
      expect(wrong).toEqual([])
      expect(segments(execution).length).toBeLessThan(BACKLOG_BYTES / SEGMENT_BYTES + 2)
      reader.close()
    })
  })
}

const MEGABYTES = 96
const BACKLOG_BYTES = 64 * 2 ** 20
const SEGMENT_BYTES = 4 * 2 ** 20
const states = new WeakMap<Execution, LinesWritten>()

function latest(execution: Execution): LinesWritten {
  if (!states.has(execution)) execution.onLines(written => states.set(execution, written))
  return states.get(execution) ?? { n: 0, refused: false }
}

async function written(execution: Execution, n: number): Promise<void> {
  await vi.waitUntil(() => latest(execution).n >= n, { timeout: 10_000 })
}

function said({ folder }: Execution): string[] {
  expect(existsSync(join(folder, 'stdout'))).toBe(false)
  return readFileSync(join(folder, 'stdout.0'), 'utf8').trim().split('\n')
}

function segments({ folder }: Execution): string[] {
  return readdirSync(folder).filter(name => name.startsWith('stdout.'))
}

function megabyte(n: number): Buffer {
  return Buffer.from(`${String(n).padStart(7, '0')}\n`.repeat(131_072))
}
