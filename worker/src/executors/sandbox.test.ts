import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Executor, LaunchOrder } from './port.ts'
import { probeSandbox } from './probe-sandbox.ts'
import { finish, PYTHON, parentOf, printed, Workbench } from './workbench.ts'

const REACH = `
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=2)
    print("reached")
except OSError as error:
    print("refused")
`

/** The server closes first, so that its port would stay taken for a minute. */
const SERVE_ONCE = `
import socket
with socket.socket() as server:
    server.bind(("127.0.0.1", 5000))
    server.listen()
    client = socket.create_connection(("127.0.0.1", 5000))
    server.accept()[0].close()
    client.recv(1)
    client.close()
print(*(name for _, name in socket.if_nameindex()))
`

/** Replaces a file that a standing root shows. */
const REPLACE = `
import os, sys
sys.path.insert(0, sys.argv[1])
from keeper_mounts import open_stage
from keeper_root import ROOT, StandingRoot
os.chdir(sys.argv[2])
os.umask(0o077)
def put(text):
    with open("next", "w") as file:
        file.write(text)
    os.rename("next", "shown")
def seen(root):
    root.option([["staged", "--ro-bind", os.path.abspath("shown"), "/etc/shown"], ["--ro-bind-try", "/nowhere", "/etc/nowhere"], ["--dev", "/dev"]])
    made = os.stat(ROOT).st_ctime_ns
    with open(ROOT + "/etc/shown") as file:
        return file.read(), made
assert open_stage()
root = StandingRoot()
put("before")
first, again = seen(root), seen(root)
put("after")
print(first[0], first == again, seen(root)[0], sorted(os.listdir(ROOT + "/etc")), oct(os.stat(ROOT + "/etc").st_mode), oct(os.umask(0)))
`

describe('a sandboxed program', () => {
  let bench: Workbench
  let executor: Executor
  beforeAll(async () => {
    bench = await Workbench.open()
    executor = bench.executor()
  })
  afterAll(() => bench.close())

  const run = async (argv: readonly string[], changes: Partial<LaunchOrder> = {}) =>
    finish(await executor.start(await bench.anOrder(argv, { isolation: 'sandbox', ...changes })))
  const sh = async (script: string, changes: Partial<LaunchOrder> = {}) =>
    (await run(['sh', '-c', script], changes)).stdout

  it('sees no home, no /var, no /run and none of our folders', async () => {
    const seen = (await sh('ls /')).trim().split('\n')
    const allowed = ['bin', 'dev', 'etc', 'lib', 'lib32', 'lib64', 'libx32', 'proc', 'sbin', 'tmp', 'usr', 'work']
    expect(seen.filter(name => !allowed.includes(name))).toEqual([])
    expect(await sh(`ls ${bench.root} /home /root /var /run 2>/dev/null`)).toBe('')
    expect(await sh('ls -A /work /tmp')).toBe('/tmp:\n\n/work:\n')
  })

  it('cannot read secrets of the host, not even those of root', async () => {
    expect(await sh('cat /etc/shadow /etc/gshadow 2>/dev/null; id -un')).toBe('job\n')
    expect(await sh('wc -l </etc/passwd')).toBe('3\n')
  })

  it('cannot write outside of its work folder and /tmp', async () => {
    const script =
      'for d in / /usr /etc /usr/lib; do touch $d/x 2>/dev/null && echo $d; done; touch /tmp/x x && echo fine'
    expect(await sh(script)).toBe('fine\n')
  })

  it('sees no other process', async () => {
    const commands = await sh('cat /proc/[0-9]*/comm')
    expect([...new Set(commands.trim().split('\n'))].sort()).toEqual(['bwrap', 'sh'])
  })

  it('gains no right on the way', async () => {
    expect(await sh('grep -E "^(CapEff|CapBnd|NoNewPrivs)" /proc/self/status')).toMatch(
      /CapEff:\t0+\nCapBnd:\t0+\nNoNewPrivs:\t1\n/,
    )
  })

  it('sees the same machine, put together once or for this program alone', async () => {
    const script =
      'ls -d / /*; ls /dev /etc /etc/ssl; cat /etc/passwd /etc/hosts; for f in / /etc /dev /usr /dev/pts; do touch $f/x 2>/dev/null && echo $f; done; echo to >/dev/null && wc -c </dev/null && head -c 9 /dev/zero | wc -c'
    const once = await sh(script)
    expect(await sh(script, { devices: ['/dev/null'] })).toBe(once)
    expect(await sh(script, { visiblePaths: [bench.root] })).toBe(once)
    expect(await sh(script, { visiblePaths: ['/usr/lib', '/usr/bin/env'] })).toBe(once)
    expect(once.endsWith('0\n9\n')).toBe(true)
  })

  it('is put together once for all programs of a root worker, except for those that have a device or a secret', async () => {
    if (process.getuid?.() !== 0) return console.log('only a root worker keeps what all its sandboxes show')
    const seesAsRoot = async (changes: Partial<LaunchOrder>) =>
      (await sh(`awk '$5 == "/" { print $4 }' /proc/self/mountinfo`, changes)).trim()
    expect(await seesAsRoot({})).toBe('/')
    expect(await seesAsRoot({ visiblePaths: [bench.root, '/opt'] })).toBe('/')
    const secrets = { hidden: [], memoryFolder: null, files: [{ name: 'a', value: btoa('b') }] }
    expect(await seesAsRoot({ devices: ['/dev/null'] })).toBe('/newroot')
    expect(await seesAsRoot({ secrets })).toBe('/newroot')
  })

  it('has a loopback and nothing else, with all ports free for one program after the other', async () => {
    const [first, second] = [await run([PYTHON, '-c', SERVE_ONCE]), await run([PYTHON, '-c', SERVE_ONCE])]
    expect([first.stdout, first.stderr, second.stdout, second.stderr]).toEqual(['lo\n', '', 'lo\n', ''])
  })

  it('knows its own name', async () => {
    expect(await sh('getent hosts "$(hostname)"')).toMatch(/^127\.0\.0\.1|^::1/)
  })

  it('sees the listed paths, read-only, also behind a closed folder', async () => {
    const closed = join(bench.root, 'closed')
    await mkdir(join(closed, 'data'), { recursive: true })
    await writeFile(join(closed, 'data', 'file'), 'shown\n')
    await writeFile(join(closed, 'hidden'), 'secret\n')
    await chmod(closed, 0o700)
    const path = join(closed, 'data')
    const script = `cat ${path}/file; cat ${closed}/hidden 2>/dev/null; touch ${path}/new 2>/dev/null || echo read-only`
    expect(await sh(script, { visiblePaths: [path] })).toBe('shown\nread-only\n')
  })

  it('sees a listed path as it is when the program starts, also one that was replaced', async () => {
    const path = join(bench.root, 'shut', 'data')
    const seen: string[] = []
    for (const text of ['first', 'second', 'third']) {
      await mkdir(path, { recursive: true })
      await chmod(join(path, '..'), 0o700)
      await writeFile(join(path, 'file'), text)
      seen.push(await sh(`cat ${path}/file`, { visiblePaths: [path] }))
      if (text === 'second') await rename(path, `${path}-old`)
    }
    expect(seen).toEqual(['first', 'second', 'third'])
  })

  it('does not start when a listed path does not exist', async () => {
    const { exit } = await run(['true'], { visiblePaths: ['/no/such/path'] })
    expect(exit.startError).toContain('/no/such/path')
  })

  it('sees the ordered devices and no other', async () => {
    const device = ['/dev/kmsg', '/dev/fuse', '/dev/net/tun', '/dev/rtc0'].find(existsSync)
    if (device === undefined) throw new Error('this machine has none of the devices the test knows')
    const look = ['sh', '-c', `test -c ${device} && echo seen`]
    expect((await run(look)).stdout).toBe('')
    expect((await run(look, { devices: [device] })).stdout).toBe('seen\n')
  })

  it('shows its environment to nobody through the command line', async () => {
    const env = { PATH: '/usr/bin:/bin', TOKEN: 'very-secret-token' }
    const order = await bench.anOrder(['sh', '-c', 'echo ready; exec sleep 600'], { isolation: 'sandbox', env })
    const execution = await executor.start(order)
    await printed(execution)
    expect(await readFile(`/proc/${execution.pid}/cmdline`, 'utf8')).not.toContain('very-secret-token')
    execution.stop('canceled', 0)
    await finish(execution)
  })

  it('is of a user of its own in all its ids and groups, and its keeper stays what it was', async () => {
    if (process.getuid?.() !== 0) return console.log('only the sandboxes of a root worker have users of their own')
    const order = await bench.anOrder(['sh', '-c', 'echo ready; exec sleep 600'], { isolation: 'sandbox' })
    const execution = await executor.start(order)
    await printed(execution)
    const box = await idsOf(execution.pid)
    expect(new Set([...box.Uid, ...box.Gid])).toEqual(new Set([box.Uid[0]]))
    expect(Number(box.Uid[0])).toBeGreaterThanOrEqual(200_000)
    expect(box.Groups).toEqual([])
    expect(await idsOf(await parentOf(execution.pid))).toEqual(await idsOf(process.pid))
    execution.stop('canceled', 0)
    await finish(execution)
  })

  it('runs none of its own code before it is inside', async () => {
    const order = await bench.anOrder(['true'], { isolation: 'sandbox', env: { LD_PRELOAD: '/work/own.so' } })
    const { stderr, exit } = await finish(await executor.start(order))
    expect(exit.exitCode).toBe(0)
    expect(stderr.match(/own\.so/g) ?? []).toHaveLength(1)
  })

  it('reaches a listener on the loopback of the host only when it shares its network', async () => {
    const server = createServer(socket => socket.destroy()).listen(0, '127.0.0.1')
    await new Promise(resolve => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? String(address.port) : ''
    const reach = async (network: LaunchOrder['network'], host: string) =>
      (await run([PYTHON, '-c', REACH, host, port], { network })).stdout
    expect(await reach('none', '127.0.0.1')).toBe('refused\n')
    expect(await reach('host', '127.0.0.1')).toBe('reached\n')
    if ((await probeSandbox({ python: PYTHON })).internet) {
      // Often, because bubblewrap and slirp4netns both configure the loopback and must not meet.
      for (let i = 0; i < 10; i += 1) expect(await reach('internet', '127.0.0.1')).toBe('refused\n')
      expect(await reach('internet', '10.0.2.2')).toBe('refused\n')
      expect(await sh('grep -c tap0 /proc/net/dev', { network: 'internet' })).toBe('1\n')
    } else console.log('slirp4netns is not usable here: network internet was not tried')
    await new Promise(resolve => server.close(resolve))
  })

  it('is over once its program is, whatever grace is left, though its network has a helper', async () => {
    if (!(await probeSandbox({ python: PYTHON })).internet) return console.log('slirp4netns is not usable here')
    const argv = ['sh', '-c', 'echo; exec sleep 1000']
    const execution = await executor.start(await bench.anOrder(argv, { isolation: 'sandbox', network: 'internet' }))
    await printed(execution)
    execution.stop('canceled', 3_600_000)
    expect((await finish(execution)).exit).toMatchObject({ signal: 'SIGTERM', stoppedBy: 'canceled' })
  })
})

describe('a machine without the tools', () => {
  it('refuses the internet by naming what to install', async () => {
    const bench = await Workbench.open()
    const tools = join(bench.root, 'tools')
    await mkdir(tools)
    for (const tool of ['bwrap', 'setpriv', 'prlimit']) {
      await symlink(
        spawnSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).stdout.trim(),
        join(tools, tool),
      )
    }
    const executor = bench.executor({ toolPath: tools })
    const order = await bench.anOrder(['true'], { isolation: 'sandbox', network: 'internet' })
    const { exit } = await finish(await executor.start(order))
    expect(exit.startError).toContain('network internet needs slirp4netns')
    await bench.close()
  })

  it('shows what is there now, also when it was replaced meanwhile, to everyone whatever the mask of the worker', async () => {
    if (process.getuid?.() !== 0) return console.log('only a root worker keeps what all its sandboxes show')
    const folder = await mkdtemp(join(tmpdir(), 'stoker-root-'))
    const { stdout, stderr } = spawnSync(PYTHON, ['-c', REPLACE, import.meta.dirname, folder], { encoding: 'utf8' })
    await rm(folder, { recursive: true })
    expect([stdout, stderr]).toEqual(["before True after ['shown'] 0o40755 0o77\n", ''])
  })

  it('is probed as unable, with the reason', async () => {
    const probe = await probeSandbox({ python: PYTHON, toolPath: '/no/tools' })
    expect(probe).toMatchObject({ works: false, internet: false })
    expect(probe.why).toContain('is not in /no/tools')
  })

  it('is probed as unable when it has no Python', async () => {
    expect((await probeSandbox({ python: '/no/python3' })).why).toContain('/no/python3')
  })
})

describe('a machine with the tools', () => {
  it('is probed by a sandbox that really ran', async () => {
    expect(await probeSandbox({ python: PYTHON })).toMatchObject({ works: true })
  })
})

async function idsOf(pid: number): Promise<Record<'Uid' | 'Gid' | 'Groups', string[]>> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  const words = (name: string) =>
    (new RegExp(`^${name}:(.*)$`, 'm').exec(status)?.[1] ?? 'none').split(/\s+/).filter(word => word !== '')
  return { Uid: words('Uid'), Gid: words('Gid'), Groups: words('Groups') }
}
