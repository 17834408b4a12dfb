import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Executor, LaunchOrder } from './port.ts'
import { finish, PYTHON, printed, Workbench } from './workbench.ts'

const RANKS = fileURLToPath(new URL('./ranks.py', import.meta.url))
/** Meets all others at the address they were given, as torch does. */
const MEET = `
import os, socket, sys
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
address = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    with socket.create_server(address) as server:
        heard = sorted(server.accept()[0].makefile().readline().strip() for _ in range(world - 1))
    print("met", *heard, os.environ["LOCAL_RANK"], os.environ["CUDA_VISIBLE_DEVICES"], os.environ["GLOO_SOCKET_IFNAME"], flush=True)
else:
    while True:
        try:
            talk = socket.create_connection(address)
            break
        except ConnectionRefusedError:
            pass
    talk.sendall(f"{rank}\\n".encode())
    print("out of", rank, flush=True)
    print("err of", rank, file=sys.stderr, flush=True)
`

for (const isolation of ['none', 'sandbox'] as const)
  describe(`ranks with isolation ${isolation}`, () => {
    let bench: Workbench
    let executor: Executor
    beforeAll(async () => {
      bench = await Workbench.open()
      executor = bench.executor()
    })
    afterAll(() => bench.close())

    const start = async (count: number, program: string, changes: Partial<LaunchOrder> = {}) =>
      executor.start(
        await bench.anOrder([PYTHON, '-I', RANKS, String(count), '0.5', 'by-others', PYTHON, '-c', program], {
          isolation,
          visiblePaths: [RANKS],
          ...changes,
        }),
      )

    it('meet at one address, and only the first speaks for the program', async () => {
      const env = { PATH: '/usr/bin:/bin', CUDA_VISIBLE_DEVICES: 'a,b,c' }
      const { exit, stdout, stderr } = await finish(await start(3, MEET, { env }))
      expect(exit).toMatchObject({ exitCode: 0 })
      expect(stdout).toBe('met 1 2 0 a,b,c lo\n')
      expect(stderr.trim().split('\n').sort()).toEqual([
        '[rank 1] err of 1',
        '[rank 1] out of 1',
        '[rank 2] err of 2',
        '[rank 2] out of 2',
      ])
    })

    it('end together when one fails, whose last lines are the last words', async () => {
      const program = `
import os, signal, sys, time
if os.environ["RANK"] == "1":
    for n in range(20): print("line", n, file=sys.stderr)
    print("no memory left", file=sys.stderr)
    sys.exit(3)
signal.signal(signal.SIGTERM, lambda *_: (os.write(2, b"asked\\n"), sys.exit(0)))
while True: time.sleep(1)
`
      const { exit, stderr } = await finish(await start(3, program))
      expect(exit).toMatchObject({ exitCode: 3 })
      const lines = stderr.trim().split('\n')
      expect(lines.at(-1)).toBe('no memory left')
      expect(lines.slice(-9, -7)).toEqual(['rank 1 of 3 failed with exit code 3, the others were stopped', 'line 13'])
    })

    it('are killed when they do not end in time, and a signal is told as one', async () => {
      const program = `
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.environ["RANK"] == "0":
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGSEGV)
while True: time.sleep(1)
`
      const { exit, stderr } = await finish(await start(2, program))
      expect(exit.exitCode === 139 || exit.signal === 'SIGSEGV').toBe(true)
      expect(stderr).toContain('rank 0 of 2 failed with SIGSEGV')
    })

    it('all hear once that they are to stop, and have the whole grace', async () => {
      const program = `
import os, signal, sys, time
def stop(*_):
    os.write(1, b"asked\\n")
    time.sleep(0.2)
    os.write(1, b"saved\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("ready", flush=True)
while True: time.sleep(1)
`
      const execution = await start(2, program)
      await printed(execution, 'ready\n'.length)
      await expect.poll(() => execution.sizes.stderr, { interval: 20 }).toBeGreaterThan(0)
      execution.stop('canceled')
      const { exit, stdout, stderr } = await finish(execution)
      expect(exit).toMatchObject({ stoppedBy: 'canceled', exitCode: 0 })
      expect({ stdout, stderr }).toEqual({
        stdout: 'ready\nasked\nsaved\n',
        stderr: '[rank 1] ready\n[rank 1] asked\n[rank 1] saved\n',
      })
    })

    it('do not start at all when the program is not there', async () => {
      const order = await bench.anOrder([PYTHON, '-I', RANKS, '2', '1', 'by-others', 'no-such-program'], {
        isolation,
        visiblePaths: [RANKS],
      })
      const { exit, stderr } = await finish(await executor.start(order))
      expect(exit.exitCode).toBe(127)
      expect(stderr).toBe('rank 0 could not start no-such-program: No such file or directory\n')
    })
  })

it('ranks whose launcher alone hears that they are to stop, as in a container, hear it once from it', async () => {
  const program = `
import os, signal, sys, time
def stop(*_):
    os.write(1, b"asked\\n")
    time.sleep(0.2)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
print("ready", file=sys.stderr, flush=True)
while True: time.sleep(1)
`
  const child = spawn(PYTHON, ['-I', RANKS, '2', '5', 'by-us', PYTHON, '-c', program])
  let [out, err] = ['', '']
  child.stdout.on('data', part => {
    out += part
  })
  child.stderr.on('data', part => {
    err += part
  })
  await expect.poll(() => err.split('ready').length - 1).toBe(2)
  for (let times = 0; times < 100; times++) child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([0, null])
  expect(out).toBe('asked\n')
  expect(err.split('\n').toSorted()).toEqual(['', '[rank 1] asked', '[rank 1] ready', 'ready'])
})
