import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { removeTree } from '@stoker/files'
import { callEngine } from './engine-api.ts'

/** Called so in every engine: busybox and Python, made of this machine's own files. */
export const IMAGE = 'python:3.11-slim'

const IMAGE_SCRIPT = fileURLToPath(new URL('./offline-image.sh', import.meta.url))
const ASK_EVERY_MS = 30
const READY_TRIES = 1000
const PATH = `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`
const PODMAN_CONFIG = '[containers]\ndefault_ulimits=["nofile=4096:4096","nproc=4096:4096"]\n'

/** Dockerd looks for it when it starts. */
const GPU_HOOK = 'nvidia-container-runtime-hook'

export type EngineKind = 'docker' | 'podman'

/** A real engine of the tests' own: nothing outside its folder knows of it. */
export interface TestEngine {
  readonly kind: EngineKind
  readonly folder: string
  readonly socket: string
  readonly pid: number
}

export interface EngineOptions {
  readonly flags?: readonly string[]
  /** Lets requests for GPUs through without there being one: proves who is given which, nothing else. */
  readonly gpuStub?: boolean
}

/** Starts an engine in a folder; an earlier one's containers and images are still there. */
export async function startEngine(
  kind: EngineKind,
  folder: string,
  imageTar: string,
  { flags = [], gpuStub = false }: EngineOptions = {},
): Promise<TestEngine> {
  await mkdir(join(folder, 'stub'), { recursive: true })
  const socket = join(folder, 'e.sock')
  if (gpuStub) await writeFile(join(folder, 'stub', GPU_HOOK), '#!/bin/sh\ncat >/dev/null\n', { mode: 0o755 })
  const argv = kind === 'docker' ? dockerCommand(folder, flags) : await podmanCommand(folder)
  await forgetDeadContainerd(folder)
  const log = openSync(join(folder, 'log'), 'a')
  const env = { ...process.env, PATH: `${join(folder, 'stub')}:${PATH}`, CONTAINERS_CONF: join(folder, 'conf') }
  const child = spawn(argv[0] ?? '', argv.slice(1), { detached: true, stdio: ['ignore', log, log], env })
  closeSync(log)
  child.unref()
  const pid = child.pid ?? 0
  await ready(socket, pid, join(folder, 'log'))
  if (!existsSync(join(folder, 'image'))) {
    await callEngine(socket, 'POST', importPath(kind), await readFile(imageTar))
    await writeFile(join(folder, 'image'), IMAGE)
  }
  await writeFile(join(folder, 'pid'), String(pid))
  return { kind, folder, socket, pid }
}

/** Ends it by its pid, and removes its folder. */
export async function stopEngine({ folder, pid }: TestEngine): Promise<void> {
  if (isRunning(pid)) process.kill(pid, 'SIGTERM')
  for (let left = READY_TRIES; left > 0 && isRunning(pid); left -= 1) await sleep(ASK_EVERY_MS)
  if (isRunning(pid)) throw new Error(`the engine ${pid} in ${folder} does not end`)
  const mounts = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map(line => line.split(' ')[1] ?? '')
  for (const place of mounts.filter(each => each.startsWith(`${folder}/`)).reverse()) spawnSync('umount', ['-l', place])
  await removeTree(folder)
}

export function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Null where an engine can be had; else what is missing. */
export function whyNoEngine(kind: EngineKind): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return `a private ${kind} engine needs Linux and root`
  const tools = kind === 'docker' ? ['dockerd', 'busybox'] : ['podman', 'catatonit', 'runc', 'busybox']
  const missing = tools.filter(tool => spawnSync('sh', ['-c', `command -v ${tool}`], { env: { PATH } }).status !== 0)
  return missing.length === 0 ? null : `${missing.join(', ')} not installed: nothing was tried on ${kind}`
}

/** A killed dockerd takes its containerd along; where nobody buries the dead, the next one believes it alive. */
async function forgetDeadContainerd(folder: string): Promise<void> {
  const file = join(folder, 'exec', 'containerd', 'containerd.pid')
  const pid = Number(await readFile(file, 'utf8').catch(() => '0'))
  if (pid > 0 && !isRunning(pid)) await rm(file)
}

function dockerCommand(folder: string, flags: readonly string[]): string[] {
  const places = ['--data-root', join(folder, 'data'), '--exec-root', join(folder, 'exec')]
  const quiet = ['--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false', '--ip-masq=false']
  const files = ['--pidfile', join(folder, 'dockerd.pid'), '-H', `unix://${join(folder, 'e.sock')}`]
  return ['dockerd', ...places, ...files, ...quiet, ...flags]
}

/** Runc because crun refuses cgroup v1 beside v2. */
async function podmanCommand(folder: string): Promise<string[]> {
  await writeFile(join(folder, 'conf'), PODMAN_CONFIG)
  const places = ['--root', join(folder, 'root'), '--runroot', join(folder, 'run')]
  const ways = ['--cgroup-manager', 'cgroupfs', '--runtime', which('runc')]
  return ['podman', ...places, ...ways, 'system', 'service', '--time', '0', `unix://${join(folder, 'e.sock')}`]
}

function which(tool: string): string {
  return spawnSync('sh', ['-c', `command -v ${tool}`], { env: { PATH }, encoding: 'utf8' }).stdout.trim()
}

function importPath(kind: EngineKind): string {
  const changes = ['ENV PATH=/usr/local/bin:/usr/bin:/bin', 'CMD ["python3"]']
  const query = changes.map(change => `changes=${encodeURIComponent(change)}`).join('&')
  const [repo = '', tag = ''] = IMAGE.split(':')
  return kind === 'docker'
    ? `/images/create?fromSrc=-&repo=${repo}&tag=${tag}&${query}`
    : `/v4.0.0/libpod/images/import?reference=${encodeURIComponent(IMAGE)}&${query}`
}

async function ready(socket: string, pid: number, log: string): Promise<void> {
  for (let left = READY_TRIES; left > 0 && isRunning(pid); left -= 1) {
    const answers = await callEngine(socket, 'GET', '/_ping').then(
      () => true,
      () => false,
    )
    if (answers) return
    await sleep(ASK_EVERY_MS)
  }
  throw new Error(`no engine answers on ${socket}: ${(await readFile(log, 'utf8')).slice(-2000)}`)
}

/** Made once a folder. */
export async function offlineImage(home: string): Promise<string> {
  const tar = join(home, 'image.tar')
  if (existsSync(tar)) return tar
  const { status, stderr } = spawnSync('sh', [IMAGE_SCRIPT, tar], { encoding: 'utf8', env: { PATH } })
  if (status !== 0) throw new Error(`the offline image was not made: ${stderr}`)
  return tar
}
