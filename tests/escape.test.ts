import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, copyFile, mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { JobDetail, JobSpecInput } from '@stoker/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { House } from './harness/house.ts'
import { ended, logOf, run } from './harness/jobs.ts'
import { processesWith } from './harness/processes.ts'

const isRoot = process.getuid?.() === 0
const MARK = `stoker-escape-${randomUUID()}`
const PYTHON = '/usr/bin/python3'
let house: House
let script: string
let bystander: ChildProcess
const servers: Server[] = []
let port: string

const listen = (server: Server, place: { host: string; port: number } | { path: string }) =>
  new Promise<void>(resolve => {
    servers.push(server)
    server.listen(place, resolve)
  })
const hangUp = () => createServer(socket => socket.destroy())
const ownAddress = () =>
  Object.values(networkInterfaces())
    .flat()
    .find(each => each?.family === 'IPv4' && !each.internal)?.address ?? ''

beforeAll(async () => {
  script = await readFile(fileURLToPath(new URL('./harness/escape.py', import.meta.url)), 'utf8')
  house = await House.open()
  await chmod(house.root, 0o755)
  await mkdir(house.path('home'))
  await writeFile(house.path('home', 'private'), 'diary', { mode: 0o600 })
  await mkdir(house.path('shown'), { mode: 0o755 })
  await copyFile(await realpath(PYTHON), house.path('shown', 'setuid-python'))
  await chmod(house.path('shown', 'setuid-python'), 0o4755)
  await house.startHub()
  await house.client.setSecret('KEPT', Buffer.from('a-secret-of-the-owner'))
  const env = { PATH: process.env.PATH ?? '', HOME: house.path('home'), WORKERS_OWN: MARK }
  await house.startWorker('w', {
    env,
    args: ['--visible', house.path('shown'), '--allow-host-network', '--max-jobs', '64'],
  })
  bystander = spawn('sleep', ['6000'], { argv0: `${MARK}-bystander`, env: { WHOSE: MARK } })
  const tcp = hangUp()
  await listen(tcp, { host: '0.0.0.0', port: 0 })
  port = String((tcp.address() as { port: number }).port)
  await listen(hangUp(), { path: house.path('docker.sock') })
  await listen(hangUp(), { path: `\0${MARK}` })
})
afterAll(async () => {
  bystander.kill('SIGKILL')
  await Promise.all(servers.map(server => new Promise(resolve => server.close(resolve))))
  await house.close()
})

async function attempt(words: readonly string[], more: JobSpecInput): Promise<string> {
  const job = await run(house.client, { resources: { cpus: 0.1 }, ...more, command: [PYTHON, '-c', script, ...words] })
  return `${await logOf(house.client, job.id)}${job.reason ?? ''}`.trim()
}

interface Attempt {
  readonly what: string
  readonly words: () => readonly string[]
  /** The same works outside only for root. */
  readonly root?: boolean
}

const file = (what: string, path: () => string, root = false): Attempt => ({
  what,
  words: () => ['read', path()],
  root,
})
const ATTEMPTS: readonly Attempt[] = [
  file('read the passwords of the machine', () => '/etc/shadow', true),
  file("read the hub's token", () => house.path('hub', 'admin-token')),
  file("read the hub's data", () => house.path('hub', 'stoker.db')),
  file("read the key of the hub's secrets", () => house.path('hub', 'secret-key')),
  file("read the worker's folder", () => house.path('w', '*.json*')),
  file("read the home of the worker's user", () => house.path('home', 'private')),
  file('read the folder of another attempt', () => house.path('w', 'attempts', '*', 'offer.json')),
  file('read the environment of another process', () => `/proc/${bystander.pid}/environ`),
  file('read the memory map of another process', () => `/proc/${bystander.pid}/maps`),
  file('read what the kernel tells about the machine', () => '/sys/devices/system/cpu/online'),
  { what: 'see other processes', words: () => ['processes', [...`${MARK}-bystander`].reverse().join('')] },
  { what: 'send a signal to another process', words: () => ['signal', String(bystander.pid)] },
  { what: 'trace another process', words: () => ['ptrace', String(bystander.pid)] },
  { what: 'reach a port on the loopback of the machine', words: () => ['connect', '127.0.0.1', port] },
  { what: 'reach the hub', words: () => ['connect', '127.0.0.1', String(house.port)] },
  { what: 'reach a socket in a folder, as that of Docker is', words: () => ['unix', house.path('docker.sock')] },
  { what: 'reach a socket without a folder, as that of X is', words: () => ['unix', `@${MARK}`] },
  { what: 'mount something', words: () => ['mount', '/tmp'], root: true },
  { what: 'make a namespace with rights of its own', words: () => ['namespace'] },
  { what: 'make a device', words: () => ['device'], root: true },
  { what: 'write to a cgroup', words: () => ['write', '/sys/fs/cgroup/cgroup.procs'], root: true },
  { what: 'write to the programs of the machine', words: () => ['write', '/usr/bin/env'], root: true },
  { what: 'become root by a program with that bit', words: () => ['setuid', house.path('shown', 'setuid-python')] },
]

describe('a sandboxed program cannot', () => {
  it.each(ATTEMPTS)('$what, which one without a sandbox can', async ({ words, root = false }) => {
    if (!root || isRoot) expect(await attempt(words(), { isolation: 'none' })).toMatch(/^got/)
    else console.log('only root can do this outside: the control was not run')
    expect(await attempt(words(), { isolation: 'sandbox' })).toMatch(/^no \d+$/)
  })

  it('reach the machine by any address, its neighbours or the cloud, though it has the internet', async () => {
    const { abilities } = await house.client.worker('w')
    if (!abilities.internet) return console.log('slirp4netns is not usable here: network internet was not tried')
    const inside = (host: string) => attempt(['connect', host, port], { isolation: 'sandbox', network: 'internet' })
    expect(await attempt(['connect', ownAddress(), port], { isolation: 'none' })).toMatch(/^got/)
    expect(await attempt(['connect', ownAddress(), port], { isolation: 'sandbox', network: 'host' })).toMatch(/^got/)
    const FORBIDDEN = /^no 13$/
    for (const host of [ownAddress(), '169.254.169.254', '192.168.1.1', '10.0.0.1', '172.16.0.1', '100.64.0.1'])
      expect([host, await inside(host)]).toEqual([host, expect.stringMatching(FORBIDDEN)])
    for (const host of ['127.0.0.1', '10.0.2.2']) expect(await inside(host)).toMatch(/^no/)
    expect(await attempt(['unix', `@${MARK}`], { isolation: 'sandbox', network: 'internet' })).toMatch(/^no/)
  })

  it('find a word of the worker in its environment or that of any process it sees', async () => {
    const look = `cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c ${MARK.slice(0, 20)}; true`
    const outside = await run(house.client, { command: look, isolation: 'none' })
    expect(Number(await logOf(house.client, outside.id))).toBeGreaterThan(0)
    const inside = await run(house.client, { command: look, isolation: 'sandbox' })
    expect(await logOf(house.client, inside.id)).toBe('0\n')
  })

  it('leave its memory behind in a core file', async () => {
    const command = [PYTHON, '-c', 'import resource; print(resource.getrlimit(resource.RLIMIT_CORE))']
    for (const isolation of ['none', 'sandbox'] as const)
      expect(await logOf(house.client, (await run(house.client, { command, isolation })).id)).toBe('(1, 1)\n')
  })

  it.each(['none', 'sandbox'] as const)('live on after its end as a daemon (isolation %s)', async isolation => {
    const mark = `${MARK}-daemon-${isolation}`
    const daemon = `import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("daemon", flush=True); time.sleep(600)
    os._exit(0)
os.wait(); time.sleep(0.2)`
    const job = await run(house.client, { command: [PYTHON, '-c', daemon, mark], isolation })
    expect(job.state).toBe('succeeded')
    expect(await logOf(house.client, job.id)).toBe('daemon\n')
    expect(await processesWith(mark)).toEqual([])
  })
})

describe('a program that takes too much ends with the reason', () => {
  const fails = (job: JobDetail, text: string) =>
    expect(job).toMatchObject({ state: 'failed', reason: expect.stringContaining(text) })
  const ISOLATIONS = ['none', 'sandbox'] as const

  it.each(ISOLATIONS)('of memory (isolation %s)', async isolation => {
    const command = [PYTHON, '-c', 'data = b"x" * 300_000_000; print(len(data)); import time; time.sleep(2)']
    const take = (memory: string) => run(house.client, { command, isolation, resources: { memory } })
    fails(await take('100MB'), 'out of memory')
    expect((await take('900MB')).state).toBe('succeeded')
  })

  it.each(ISOLATIONS)('of the disk, which is free again afterwards (isolation %s)', async isolation => {
    const fill =
      'import time\nfor i in range(60): open(f"part{i}", "wb").write(b"x" * 1_000_000)\nprint("full", flush=True)\n'
    const greedy = { command: [PYTHON, '-c', `${fill}time.sleep(600)`], isolation, resources: { disk: '20MB' } }
    fails(await run(house.client, greedy), 'out of disk: its work folder grew beyond the limit of 20 MB')
    const modest = await run(house.client, { command: [PYTHON, '-c', fill], isolation, resources: { disk: '900MB' } })
    expect(modest.state).toBe('succeeded')
    const used = () =>
      Number(execFileSync('du', ['-sk', house.path('w', 'attempts')], { encoding: 'utf8' }).split('\t')[0])
    await expect.poll(used, { timeout: 20_000 }).toBeLessThan(1000)
  })

  it('of the memory behind /tmp and /dev/shm', async () => {
    const fill = (place: string) => `open("${place}/x", "wb").write(b"x" * 150_000_000); print("wrote")`
    for (const place of ['/tmp', '/dev/shm']) {
      const command = [PYTHON, '-c', fill(place)]
      const small = await run(house.client, { command, isolation: 'sandbox', resources: { memory: '100MB' } })
      expect(small.state).toBe('failed')
      const large = await run(house.client, { command, isolation: 'sandbox', resources: { memory: '900MB' } })
      expect(large.state).toBe('succeeded')
    }
  })

  it('of processes, in a sandbox too', async () => {
    const storm =
      'import os, time\nn = 0\ntry:\n  while True:\n    if os.fork() == 0: time.sleep(600)\n    n += 1\nexcept OSError:\n  print("refused after", n, flush=True)\ntime.sleep(600)'
    const mark = `${MARK}-storm`
    const spec = { command: [PYTHON, '-c', storm, mark], isolation: 'sandbox' } as const
    const { id } = await house.client.submit({ ...spec, command: [...spec.command] })
    const log = () => logOf(house.client, id)
    await expect.poll(log, { timeout: 60_000 }).toMatch(/^refused after \d+\n$/)
    expect(Number((await log()).split(' ')[2])).toBeLessThanOrEqual(4096)
    await house.client.cancel(id)
    expect((await ended(house.client, id)).state).toBe('canceled')
    expect(await processesWith(mark)).toEqual([])
  })
})

it('has a folder for each attempt only while it runs', async () => {
  await expect
    .poll(async () => (await readdir(house.path('w', 'attempts'))).filter(name => !name.startsWith('spare')), {
      timeout: 20_000,
    })
    .toEqual([])
  expect(existsSync(join(house.path('w'), 'attempts'))).toBe(true)
})
