import { existsSync, readFileSync } from 'node:fs'
import { appendFile, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { Progress } from '@stoker/protocol'
import type { Execution, Executor, Exit, LaunchOrder } from '../executors/port.ts'
import type { BuildMeans } from './build-means.ts'
import { EnvironmentStore, type EnvironmentStoreOptions } from './environment-store.ts'

export const A_PYTHON = { path: '/usr/bin/python3', version: '3.11.2', prefix: '/usr' }
export const aWish = (requirements: string) => ({ requirements, python: A_PYTHON })
const MEANS: BuildMeans = { isolation: 'none', network: 'host', env: {}, visiblePaths: [] }

interface Running {
  readonly order: LaunchOrder
  readonly sizes: { stdout: number; stderr: number }
  end: (exit: Partial<Exit>) => void
  tell: () => void
}

/** An installer under the hand of a test: it installs what it is told, when it is told. */
export class FakeInstaller implements Executor {
  readonly orders: LaunchOrder[] = []
  #last: Running | null = null

  async start(order: LaunchOrder): Promise<Execution> {
    const running: Running = { order, sizes: { stdout: 0, stderr: 0 }, end: () => {}, tell: () => {} }
    const ended = new Promise<Exit>(resolve => {
      running.end = exit => resolve({ ...ENDED, ...exit })
    })
    this.#last = running
    this.orders.push(order)
    return {
      ...NOTHING,
      ...{ key: order.key, folder: order.folder, ended, sizes: running.sizes, containerId: null },
      onOutput: listener => {
        running.tell = () => listener({ ...running.sizes })
      },
      stop: () => running.end({ exitCode: null, signal: 'SIGTERM', stoppedBy: 'canceled' }),
    }
  }

  reattach = () => Promise.resolve([])
  close = () => Promise.resolve()

  /** The latest installation says something. */
  async says(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    const { order, sizes, tell } = this.#running
    await appendFile(join(order.folder, stream), text)
    sizes[stream] += Buffer.byteLength(text)
    tell()
  }

  async succeeds(packages: readonly string[] = ['six-1.17.0'], bytes = 10): Promise<void> {
    const env = join(this.#running.order.folder, 'work', 'env')
    await mkdir(join(env, 'bin'), { recursive: true })
    await writeFile(join(env, 'content'), 'x'.repeat(bytes))
    await this.says('stdout', `${JSON.stringify({ packages })}\n`)
    this.#running.end({})
  }

  async fails(words: string): Promise<void> {
    await this.says('stderr', words)
    this.#running.end({ exitCode: 1 })
  }

  get #running(): Running {
    if (this.#last === null) throw new Error('nothing is installed now')
    return this.#last
  }
}

const ENDED: Exit = {
  ...{ exitCode: 0, signal: null, oom: false, stoppedBy: null, startedAtMs: 0, endedAtMs: 0, cpuSeconds: 0 },
  ...{ maxRssBytes: 0, droppedBytes: { stdout: 0, stderr: 0 }, startError: null, limitsBy: 'none', keeperLost: false },
}
const NOTHING = {
  ...{ pid: 1, startedAtMs: 0, hasEnded: false },
  ...{ line: () => {}, onLines: () => {}, endInput: () => {}, heard: () => {} },
  usage: () => Promise.resolve(null),
  release: () => Promise.resolve(),
}

/** A folder for environments, removed at the end. */
export class EnvironmentBench {
  readonly root: string

  private constructor(root: string) {
    this.root = root
  }

  static async open(): Promise<EnvironmentBench> {
    return new EnvironmentBench(await mkdtemp(join(tmpdir(), 'stoker-env-')))
  }

  store(executor: Executor, more: Partial<EnvironmentStoreOptions> = {}): Promise<EnvironmentStore> {
    return EnvironmentStore.open({
      ...{ folder: join(this.root, 'environments'), limitBytes: 1e9, executor, means: async () => MEANS },
      ...{ now: () => Date.now(), changed: () => {} },
      ...more,
    })
  }

  /** Someone who uses environments. */
  async holder(name: string): Promise<string> {
    const folder = join(this.root, name)
    await mkdir(folder, { recursive: true })
    return folder
  }

  close(): Promise<void> {
    return removeTree(this.root)
  }
}

/** Remembers what one who waits was told. */
export function aWatch(stop = new AbortController()) {
  const heard: { output: string; operations: string[] } = { output: '', operations: [] }
  return {
    heard,
    stop,
    signal: stop.signal,
    // At once: the file goes with the installation.
    onOutput: (file: string, bytes: number) => {
      if (existsSync(file)) heard.output = readFileSync(file).subarray(0, bytes).toString()
    },
    onProgress: ({ operation }: Progress) => {
      if (operation !== null && operation !== heard.operations.at(-1)) heard.operations.push(operation)
    },
  }
}
