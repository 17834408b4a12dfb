import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import { expect, vi } from 'vitest'
import type { Execution, Executor, Exit, LaunchOrder } from './port.ts'
import { createProcessExecutor, type ProcessExecutorOptions } from './process-executor.ts'

/** Debian's own interpreter: visible in a sandbox, unlike one in somebody's home. */
export const PYTHON = '/usr/bin/python3'

let orders = 0

/** A temporary place with executors and attempts, which proves at the end that nothing of them is left. */
export class Workbench {
  readonly root: string
  readonly #executors: Executor[] = []
  readonly #keys: string[] = []

  private constructor(root: string) {
    this.root = root
  }

  static async open(): Promise<Workbench> {
    return new Workbench(await mkdtemp(join(tmpdir(), 'stoker-')))
  }

  get runtimeDir(): string {
    return join(this.root, 'run')
  }

  executor(options: Partial<ProcessExecutorOptions> = {}): Executor {
    const executor = createProcessExecutor({ runtimeDir: this.runtimeDir, python: PYTHON, slots: 4, ...options })
    this.#executors.push(executor)
    return executor
  }

  async anOrder(argv: readonly string[], changes: Partial<LaunchOrder> = {}): Promise<LaunchOrder> {
    const key = `test-${process.pid}-${++orders}`
    const folder = join(this.root, key)
    await mkdir(join(folder, 'work'), { recursive: true })
    this.#keys.push(key)
    return { ...ORDINARY, key, folder, argv, ...changes }
  }

  /** Closes what is open; then no process, cgroup or socket of this bench may exist, and its folder is removed. */
  async close(): Promise<void> {
    for (const executor of this.#executors) await executor.close('kill')
    await this.expectNobodyLeft()
    expect((await readdir(this.runtimeDir).catch(() => [])).filter(name => name.endsWith('.sock'))).toEqual([])
    await removeTree(this.root)
  }

  /** A zygote ends a moment after its last connection, so this waits for the absence. */
  async expectNobodyLeft(): Promise<void> {
    const settings = { timeout: 10_000, interval: 20 }
    await vi.waitFor(async () => expect(await processesWith(this.root)).toEqual([]), settings)
    expect(await processesWith(...this.#keys.map(key => `STOKER_ATTEMPT=${key}\0`))).toEqual([])
    expect(await groupsOf(this.#keys)).toEqual([])
    await vi.waitFor(async () => expect(await groupsOfTheDead()).toEqual([]), settings)
  }
}

const ORDINARY: Omit<LaunchOrder, 'key' | 'folder' | 'argv'> = {
  env: { PATH: '/usr/bin:/bin' },
  stdin: null,
  isolation: 'none',
  container: null,
  network: 'none',
  deadlineMs: null,
  graceMs: 5_000,
  outputLimitBytes: 100_000_000,
  limits: { cpuShare: null, memoryBytes: null, pids: 200, diskBytes: null },
  secrets: null,
  devices: [],
  visiblePaths: [],
}

/** An attempt's whole result, with the slot given back. */
export async function finish(execution: Execution): Promise<{ exit: Exit; stdout: string; stderr: string }> {
  const exit = await execution.ended
  const [stdout, stderr] = await Promise.all(['stdout', 'stderr'].map(name => readOutput(execution, name)))
  await execution.release()
  return { exit, stdout: stdout ?? '', stderr: stderr ?? '' }
}

/** Resolves once the program has printed this much. */
export function printed(execution: Execution, bytes = 1): Promise<void> {
  return new Promise(resolve => execution.onOutput(sizes => void (sizes.stdout >= bytes && resolve())))
}

/** Living processes (zombies do not count) with one of the texts in their environment or command line. */
export async function processesWith(...texts: readonly string[]): Promise<number[]> {
  const found = []
  for (const name of (await readdir('/proc')).filter(each => /^\d+$/.test(each) && Number(each) !== process.pid)) {
    const [environ, cmdline, stat] = await Promise.all(['environ', 'cmdline', 'stat'].map(file => readProc(name, file)))
    const isDead = /\) [ZX] /.test(stat ?? '') || stat === ''
    const shown = `${environ}\0${cmdline}`
    if (!isDead && texts.some(text => shown.includes(text))) found.push(Number(name))
  }
  return found
}

/** The keeper is the parent of what it started. */
export async function parentOf(pid: number): Promise<number> {
  return Number((await readProc(String(pid), 'stat')).split(') ')[1]?.split(' ')[1])
}

async function groupsOf(keys: readonly string[]): Promise<string[]> {
  const all = await readdir('/sys/fs/cgroup', { recursive: true }).catch(() => [])
  return all.filter(path => keys.some(key => path.endsWith(`/stoker-${key}`)))
}

/** Groups that a keeper left behind. */
async function groupsOfTheDead(): Promise<string[]> {
  const all = await readdir('/sys/fs/cgroup', { recursive: true }).catch(() => [])
  return all.filter(path => !existsSync(`/proc/${/\/stoker-k(\d+)$/.exec(path)?.[1] ?? 'self'}`))
}

function readProc(pid: string, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
}

function readOutput(execution: Execution, name: string): Promise<string> {
  return readFile(join(execution.folder, name), 'utf8').catch(() => '')
}
