import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Execution, Executor, LaunchOrder } from './port.ts'
import { type BenchEngine, finish, PYTHON, printed, Workbench } from './workbench.ts'

const BUSY = `
import time
memory = bytearray(50_000_000)
while time.process_time() < 0.3:
    pass
print("ready", flush=True)
time.sleep(600)
`

/** What every way of running a program promises about results, input and output. */
export function describeResults(isolation: LaunchOrder['isolation'], engine: BenchEngine | null = null): void {
  describe(`results of a program with isolation ${isolation}${engine === null ? '' : ` on ${engine.kind}`}`, () => {
    let bench: Workbench
    let executor: Executor
    beforeAll(async () => {
      bench = await Workbench.open(engine)
      executor = bench.executor()
    })
    afterAll(() => bench.close())

    const start = async (argv: readonly string[], changes: Partial<LaunchOrder> = {}): Promise<Execution> =>
      executor.start(await bench.anOrder(argv, { isolation, ...changes }))
    const run = async (argv: readonly string[], changes: Partial<LaunchOrder> = {}) =>
      finish(await start(argv, changes))

    it('reports the exit code', async () => {
      const { exit } = await run(['sh', '-c', 'exit 7'])
      expect(exit).toMatchObject({ exitCode: 7, signal: null, stoppedBy: null, startError: null, keeperLost: false })
      expect(exit.endedAtMs).toBeGreaterThanOrEqual(exit.startedAtMs)
    })

    it('makes a file of output for its first byte, none for silence', async () => {
      const order = await bench.anOrder(['sh', '-c', 'echo heard >&2'], { isolation })
      await finish(await executor.start(order))
      expect((await readdir(order.folder)).sort()).toEqual(['exit.json', 'stderr', 'work'])
    })

    it('reports the signal that killed the program', async () => {
      const { exit } = await run(['sh', '-c', 'kill -SEGV $$'])
      expect(exit).toMatchObject({ exitCode: null, signal: 'SIGSEGV' })
    })

    it('gives the ordered environment and nothing else', async () => {
      const env = { PATH: '/usr/bin:/bin', GREETING: 'two words, "quoted"\nand a second line', EMPTY: '' }
      const order = await bench.anOrder(['env', '-0'], { isolation, env })
      const { stdout } = await finish(await executor.start(order))
      const added = isolation === 'sandbox' ? ['PWD=/work'] : []
      const wanted = [...Object.entries(env).map(pair => pair.join('=')), `STOKER_ATTEMPT=${order.key}`, ...added]
      const engineOwn = /^(HOSTNAME=job|HOME=\/|container=podman|TERM=xterm)$/
      const isOwn = (variable: string) => isolation === 'container' && engineOwn.test(variable)
      const given = stdout.split('\0').filter(variable => variable !== '' && !isOwn(variable))
      expect(given.sort()).toEqual(wanted.sort())
    })

    it('leaves no descriptor open but the standard three', async () => {
      const script = 'for fd in /proc/$$/fd/*; do [ -e "$fd" ] && echo "$(basename "$fd")"; done'
      expect((await run(['sh', '-c', script])).stdout).toBe('0\n1\n2\n')
    })

    it('goes on in stderr behind what was said before its start', async () => {
      const order = await bench.anOrder(['sh', '-c', 'echo own >&2; echo out'], { isolation, saidBytes: 7 })
      await writeFile(join(order.folder, 'stderr'), 'before\n')
      const { stdout, stderr } = await finish(await executor.start(order))
      expect({ stdout, stderr }).toEqual({ stdout: 'out\n', stderr: 'before\nown\n' })
    })

    it('feeds the whole input, then end of file', async () => {
      const stdin = 'a line with ünïcode\n'.repeat(50_000)
      const { stdout, exit } = await run(['cat'], { stdin })
      expect(stdout === stdin).toBe(true)
      expect(exit.exitCode).toBe(0)
    })

    it('gives end of file at once without input', async () => {
      expect((await run(['cat'])).stdout).toBe('')
    })

    it('keeps both outputs apart and whole', async () => {
      const { stdout, stderr } = await run(['sh', '-c', 'echo "$1"; echo talk >&2; printf end', 'sh', "it's  ünï"])
      expect({ stdout, stderr }).toEqual({ stdout: "it's  ünï\nend", stderr: 'talk\n' })
    })

    it('runs in the work folder and leaves its files to the caller', async () => {
      const execution = await start(['sh', '-c', 'mkdir made; echo kept >made/file; chmod 700 made'])
      await finish(execution)
      const made = join(execution.folder, 'work', 'made')
      expect(await readFile(join(made, 'file'), 'utf8')).toBe('kept\n')
      expect((await stat(made)).uid).toBe(process.getuid?.())
    })

    it('tells of output while the program runs', async () => {
      const execution = await start(['sh', '-c', 'echo early; read line; echo late'])
      await printed(execution, 6)
      expect((await finish(execution)).stdout).toBe('early\nlate\n')
    })

    it('counts and drops output above the limit while the program goes on', async () => {
      const execution = await start(['sh', '-c', 'head -c 100000 /dev/zero >&2; echo done >finished'], {
        outputLimitBytes: 61_000,
      })
      const { exit, stderr } = await finish(execution)
      expect([stderr.length, exit.exitCode]).toEqual([61_000, 0])
      expect(exit.droppedBytes).toEqual({ stdout: 0, stderr: 39_000 })
      expect(await readFile(join(execution.folder, 'work', 'finished'), 'utf8')).toBe('done\n')
    })

    it('still keeps events above the limit, and says in the output that the rest is dropped', async () => {
      const line = `${'x'.repeat(99)}\n`
      const script = [
        'import sys, json',
        "for i in range(5000): print('x' * 99)",
        "print(json.dumps({'event': 'text', 'content': 'y' * 70000}))",
        "for i in range(5000): print('x' * 99)",
        "print(json.dumps({'other': 'z' * 50}))",
        "print(json.dumps({'event': 'finish', 'status': 'completed'}))",
      ].join('\n')
      const { exit, stdout } = await finish(await start([PYTHON, '-c', script], { outputLimitBytes: 1_000 }))
      const [before = '', after = ''] = stdout.split(
        '\nstoker: the output limit is reached; only events are kept from here on\n',
      )
      expect(before).toBe(line.repeat(10))
      expect(
        after
          .split('\n')
          .filter(text => text !== '')
          .map(text => JSON.parse(text).event),
      ).toEqual(['text', 'finish'])
      expect(exit.droppedBytes.stdout).toBe(10_000 * 100 - 1_000 + JSON.stringify({ other: 'z'.repeat(50) }).length + 2)
    })

    it('keeps fifty megabytes without slowing the program down', async () => {
      const execution = await start(['head', '-c', '50000000', '/dev/zero'])
      let told = 0
      execution.onOutput(sizes => {
        told = sizes.stdout
      })
      const exit = await execution.ended
      expect((await stat(join(execution.folder, 'stdout'))).size).toBe(50_000_000)
      expect(told).toBe(50_000_000)
      expect(exit.endedAtMs - exit.startedAtMs).toBeLessThan(5_000)
      await execution.release()
    })

    it('names a program that does not exist', async () => {
      const { exit } = await run(['no-such-program', 'x'])
      expect(exit.startError).toContain('no-such-program')
      expect(exit).toMatchObject({ exitCode: null, signal: null })
    })

    it('says what is free when no slot is', async () => {
      const held = await Promise.all([1, 2, 3, 4].map(() => start(['true'])))
      await expect(start(['true'])).rejects.toThrow('needs a free slot, all 4 hold one')
      await Promise.all(held.map(finish))
      expect((await run(['true'])).exit.exitCode).toBe(0)
    })

    it('measures what the tree uses', async () => {
      const execution = await start([PYTHON, '-c', BUSY])
      await printed(execution)
      const usage = await execution.usage()
      expect(usage?.rssBytes).toBeGreaterThan(50_000_000)
      expect(usage?.cpuSeconds).toBeGreaterThan(0.2)
      execution.stop('canceled', 0)
      const { exit } = await finish(execution)
      expect(exit.cpuSeconds).toBeGreaterThan(0.2)
      expect(exit.maxRssBytes).toBeGreaterThan(50_000_000)
      expect(await execution.usage()).toBeNull()
    })
  })
}
