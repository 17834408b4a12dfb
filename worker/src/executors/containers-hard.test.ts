import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IMAGE, type TestEngine } from '../../../tests/harness/engine.ts'
import { containersOf } from '../../../tests/harness/engine-api.ts'
import { sharedEngine } from '../../../tests/harness/engine-shared.ts'
import type { ContainerOrder, Executor, LaunchOrder } from './port.ts'
import { benchEngine } from './test-bench-engine.ts'
import { finish, PYTHON, printed, Workbench } from './workbench.ts'

const MIB = 1 << 20
const LIMITS: LaunchOrder['limits'] = { cpuShare: null, memoryBytes: null, pids: 200, diskBytes: null }
/** Each letter of three bytes is cut by the frames of every engine somewhere. */
const LONG_LINES = `
import sys
for i in range(40):
    sys.stdout.write("é€😀" * 6667 + str(i) + "\\n")
    sys.stderr.write("€" * 20000 + "\\n")
`
const SELF = `
import os, socket
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print("caps", {status[name].strip() for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")})
print("no-new-privs", status["NoNewPrivs"])
print("ids", os.getresuid(), os.getresgid())
print("interfaces", sorted(name for _, name in socket.if_nameindex()))
for path in ("/etc/new", "/new", "/usr/bin/new"):
    try: open(path, "w"); print("wrote", path)
    except OSError as error: print(error.strerror)
open("/tmp/program", "w").write("#!/bin/sh\\n"); os.chmod("/tmp/program", 0o755)
try: os.execv("/tmp/program", ["program"])
except OSError as error: print("exec in /tmp:", error.strerror)
`

for (const kind of ['docker', 'podman'] as const) {
  const engine = await sharedEngine(kind)
  if (typeof engine !== 'string') describeHardness(engine)
  else if (kind === 'podman') console.log(engine)
  else it('hard cases of containers are not tried here', context => context.skip(engine))
}

function describeHardness(engine: TestEngine): void {
  describe(`a container on ${engine.kind}`, () => {
    let bench: Workbench
    let executor: Executor
    beforeAll(async () => {
      bench = await Workbench.open(benchEngine(engine))
      executor = bench.executor()
    })
    afterAll(() => bench.close())

    const anOrder = async (argv: readonly string[], changes: Partial<LaunchOrder>, box: Partial<ContainerOrder>) => {
      const order = await bench.anOrder(argv, { isolation: 'container', ...changes })
      return { ...order, container: bench.aContainer({ name: `gpu-task-${order.key}`, ...box }) }
    }
    const run = async (
      argv: readonly string[],
      changes: Partial<LaunchOrder> = {},
      box: Partial<ContainerOrder> = {},
    ) => {
      const order = await anOrder(argv, changes, box)
      const result = await finish(await executor.start(order))
      return { ...result, folder: order.folder }
    }
    const sh = (script: string, changes: Partial<LaunchOrder> = {}, box: Partial<ContainerOrder> = {}) =>
      run(['sh', '-c', script], changes, box)

    it('is hardened in effect: no power, no network, a root that cannot be written, a user that is nobody', async () => {
      const { stdout } = await run([PYTHON, '-c', SELF])
      expect(stdout.split('\n')).toEqual([
        "caps {'0000000000000000'}",
        'no-new-privs 1',
        'ids (65534, 65534, 65534) (65534, 65534, 65534)',
        "interfaces ['lo']",
        'Read-only file system',
        'Read-only file system',
        'Read-only file system',
        'exec in /tmp: Permission denied',
        '',
      ])
    })

    it('keeps long lines whole in both streams, however its frames cut them', async () => {
      const { stdout, stderr } = await run([PYTHON, '-X', 'utf8', '-c', LONG_LINES])
      const lines = Array.from({ length: 40 }, (_, i) => `${'é€😀'.repeat(6667)}${i}\n`)
      expect(stdout === lines.join('')).toBe(true)
      expect(stderr === `${'€'.repeat(20000)}\n`.repeat(40)).toBe(true)
    })

    it('that floods its output is held to the limit, and the engine keeps no copy', async () => {
      const script = 'yes flood | head -c 200000000; echo; echo \'{"event":"finish","status":"completed"}\''
      const { exit, stdout } = await sh(script, { outputLimitBytes: MIB })
      expect(exit).toMatchObject({ exitCode: 0 })
      expect(exit.droppedBytes.stdout).toBeGreaterThan(198_000_000)
      expect(stdout.trim().split('\n').at(-1)).toBe('{"event":"finish","status":"completed"}')
    })

    it('may close its output and go on', async () => {
      const { exit, stdout } = await sh('echo last; exec >&- 2>&-; sleep 0.5; exit 6')
      expect([exit.exitCode, stdout]).toEqual([6, 'last\n'])
    })

    it('that fills its memory folder is refused there and lives on', async () => {
      const fill = 'dd if=/dev/zero of=/tmp/fill bs=1M count=64 2>/dev/null || echo full'
      const { exit, stdout } = await sh(fill, {}, { tmpBytes: 4 * MIB })
      expect([exit.exitCode, stdout]).toEqual([0, 'full\n'])
    })

    it('that fills its work folder is ended and said to be over its disk', async () => {
      const limits = { ...LIMITS, diskBytes: 8 * MIB }
      const { exit, folder } = await sh('dd if=/dev/zero of=fill bs=1M count=64; sleep 600', { limits })
      expect(exit).toMatchObject({ overDisk: true, signal: 'SIGKILL' })
      expect((await stat(join(folder, 'work', 'fill'))).uid).toBe(0)
    })

    it('is held to its processor quota', async () => {
      const burn = 'import time\nend = time.time() + 1\nwhile time.time() < end: pass\nprint(time.process_time())'
      const { stdout } = await run([PYTHON, '-c', burn], {}, { cpus: 0.2 })
      expect(Number(stdout)).toBeLessThan(0.5)
    })

    it('has the shared memory it is given', async () => {
      expect((await sh('df -k /dev/shm | tail -1', {}, { shmBytes: 8 * MIB })).stdout).toMatch(/\s8192\s/)
    })

    it('may be given a root it can write, a user of its image and the folder its image names', async () => {
      const box = { writableRoot: true, user: 'worker:workers', workdir: 'image' }
      const { stdout, folder } = await sh('pwd; id -u; id -g; touch /work/made /tmp/x && ls /work', {}, box)
      expect(stdout).toBe('/\n1234\n1235\nmade\n')
      expect((await stat(join(folder, 'work', 'made'))).uid).toBe(0)
    })

    it('does not start as a user its image does not know', async () => {
      const { exit } = await sh('true', {}, { user: 'stranger' })
      expect(exit.startError).toMatch(/stranger/)
      expect(exit.exitCode).toBeNull()
    })

    it('sees what is bound into it, for reading where so ordered', async () => {
      const models = join(bench.root, 'models: of all')
      await mkdir(models)
      await chmod(models, 0o755)
      await writeFile(join(models, 'weights'), 'numbers\n')
      const binds = [{ source: models, target: '/models', readOnly: true }]
      const { stdout } = await sh('cat /models/weights; touch /models/x 2>/dev/null || echo read-only', {}, { binds })
      expect(stdout).toBe('numbers\nread-only\n')
    })

    it('does not start when a bound folder does not exist', async () => {
      const binds = [{ source: join(bench.root, 'nowhere'), target: '/models', readOnly: true }]
      expect((await sh('true', {}, { binds })).exit.startError).toContain('nowhere')
    })

    it('has its secrets as files in memory only, and none of them in what it prints', async () => {
      const value = Buffer.from('a-very-secret-value').toString('base64')
      const secrets = {
        files: [{ name: 'KEY', value }],
        hidden: [{ name: 'KEY', value }],
        memoryFolder: '/dev/shm',
      }
      const script =
        'cat $STOKER_SECRETS/KEY; ls -la $STOKER_SECRETS | grep -c KEY; touch $STOKER_SECRETS/x || echo closed'
      const { stdout } = await sh(script, { secrets })
      expect(stdout).toBe('***KEY***1\nclosed\n')
      expect((await readdir('/dev/shm')).filter(name => name.startsWith('stoker-secrets-'))).toEqual([])
    })

    it('runs the command of its image where none is ordered, with what it is fed', async () => {
      expect((await run([], { stdin: 'print(6 * 7)\n' })).stdout).toBe('42\n')
    })

    it('of an image that is not here names it', async () => {
      const { exit } = await run(['true'], {}, { image: 'no-such-image:1' })
      expect(exit.startError).toContain('image no-such-image:1 is not on this machine')
    })

    it('tells what it uses, and how many processes it has', async () => {
      const execution = await executor.start(await anOrder(['sh', '-c', 'sleep 600 & echo ready; wait'], {}, {}))
      await printed(execution)
      expect((await execution.usage())?.pids).toBe(3)
      execution.stop('canceled')
      await finish(execution)
    })

    it('waits for its name when an earlier container is about to go', async () => {
      const first = await executor.start(await anOrder(['sleep', '600'], {}, { name: 'gpu-task-twice' }))
      const second = executor.start(await anOrder(['true'], {}, { name: 'gpu-task-twice' }))
      first.stop('canceled', 0)
      await finish(first)
      expect((await finish(await second)).exit.exitCode).toBe(0)
    })

    it('carries the labels that tell whose it is', async () => {
      const labels = { 'gpu-service.task_id': 't', 'stoker.worker_id': 'w' }
      const execution = await executor.start(await anOrder(['sleep', '600'], {}, { labels }))
      const seen = (await containersOf(engine.socket)).find(({ Labels }) => Labels['stoker.attempt'] === execution.key)
      expect(seen?.Labels).toMatchObject(labels)
      execution.stop('canceled', 0)
      await finish(execution)
    })

    it('shows its environment in no command line', async () => {
      const env = { TOKEN: 'very-secret-token' }
      const execution = await executor.start(await anOrder(['sleep', '600'], { env }, {}))
      const lines = await Promise.all(
        (await readdir('/proc'))
          .filter(name => /^\d+$/.test(name))
          .map(pid => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')),
      )
      expect(lines.filter(line => line.includes('very-secret-token'))).toEqual([])
      execution.stop('canceled', 0)
      await finish(execution)
    })

    if (engine.kind === 'podman')
      it('with GPUs is refused, because podman would ignore the request', async () => {
        const { exit } = await sh('true', {}, { deviceIds: ['GPU-1'] })
        expect(exit.startError).toContain('podman ignores requests for GPUs')
      })
    else
      it('is given the GPUs of its order and no other (a stub of the GPU runtime: this proves plumbing only)', async () => {
        const { stdout } = await sh('echo $NVIDIA_VISIBLE_DEVICES', {}, { deviceIds: ['GPU-1', 'GPU-7'] })
        expect(stdout).toBe('GPU-1,GPU-7\n')
        expect((await sh('echo none $NVIDIA_VISIBLE_DEVICES')).stdout).toBe('none\n')
      })

    it('has no bridge where the engine has none, and the sentence is the engine’s', async () => {
      const { exit, stdout } = await sh('ls /sys/class/net', { network: 'internet' })
      if (exit.startError === null) expect(stdout).toContain('lo')
      else expect(exit.startError).toContain(`did not start image ${IMAGE}`)
    })

    it('shares the network of the host only where it is ordered', async () => {
      const { stdout } = await sh('wc -l </proc/net/dev', { network: 'host' })
      const host = (await readFile('/proc/net/dev', 'utf8')).trim().split('\n').length
      expect(Number(stdout)).toBe(host)
    })
  })
}
