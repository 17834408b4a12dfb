import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { Abilities, Gpu, Hardware } from '@stoker/protocol'
import { expect, vi } from 'vitest'
import { InputCache } from '../artifacts/input-cache.ts'
import { ModelStore } from '../artifacts/model-store.ts'
import type { Transfers } from '../artifacts/transfers.ts'
import type { Executor } from '../executors/port.ts'
import { createProcessExecutor } from '../executors/process-executor.ts'
import { processesWith } from '../executors/workbench.ts'
import { HostSampler } from '../probe/host-sampler.ts'
import { Runner } from '../run/runner.ts'
import { Workspaces } from '../run/workspace.ts'
import type { Link, LinkEvents } from './link.ts'
import type { Sources } from './sources.ts'

const PYTHON = '/usr/bin/python3'

export const ABILITIES: Abilities = {
  ...{ executors: ['process'], sandbox: false, unsandboxed: true, internet: false, hostNetwork: true, note: null },
}

/** A machine for sentences; only its GPUs differ between tests. */
export function aMachine(gpus: readonly Gpu[] = []): Hardware {
  return {
    ...{ cpuModel: 'Some CPU', cores: 4, memoryBytes: 8 * 2 ** 30, hostname: 'box7', os: 'Linux 6.1', arch: 'x64' },
    disk: { freeBytes: 120 * 2 ** 30, totalBytes: 476 * 2 ** 30 },
    ...{ pythons: [{ path: PYTHON, version: '3.11', prefix: '/usr' }], gpus: [...gpus], gpuNote: null },
  }
}

/** What a link of a test is made of. */
export interface BenchParts extends LinkEvents {
  readonly root: string
  readonly workspaces: Workspaces
  readonly sources: Sources
  readonly abilities: () => Abilities
  readonly now: () => number
  readonly log: () => void
}

export interface MadeLink {
  readonly link: Link
  readonly contentOf?: Transfers['contentOf'] | undefined
}

/** A worker with a real runner and real keepers around one link; it can be ended and started again on the same folder. */
export class LinkBench {
  readonly root = mkdtempSync(join(tmpdir(), 'stoker-'))
  readonly refusals: string[] = []
  readonly #make: (parts: BenchParts) => MadeLink
  #worker: { readonly link: Link; readonly runner: Runner; readonly executor: Executor } | null = null

  constructor(make: (parts: BenchParts) => MadeLink) {
    this.#make = make
  }

  async start(): Promise<void> {
    const { root } = this
    for (const name of ['models', 'no-models']) mkdirSync(join(root, name), { recursive: true, mode: 0o755 })
    const workspaces = new Workspaces(join(root, 'attempts'))
    const executor = createProcessExecutor({ runtimeDir: join(root, 'run'), python: PYTHON, slots: 4 })
    const sampler = new HostSampler()
    const { link, contentOf } = this.#make({
      ...{ root, workspaces, now: Date.now, log: () => {}, abilities: () => ABILITIES },
      sources: { host: () => sampler.sample(), gpus: () => [], devices: () => [] },
      ...{ ready: () => {}, connection: () => {}, refused: message => this.refusals.push(message) },
    })
    const runner = new Runner({
      ...{ executor, workspaces, delivery: link, abilities: ABILITIES, gpus: [], visiblePaths: [] },
      ...{ env: { PATH: '/usr/bin:/bin' }, now: Date.now, python: { path: PYTHON, prefix: '/usr' } },
      transfers: {
        contentOf: contentOf ?? (() => () => Promise.reject(new Error('nothing is to be moved here'))),
        cache: await InputCache.open(join(root, 'cache'), 1e9),
      },
      containers: { workerId: 'w', socket: () => null, imageCame: () => {} },
      models: new ModelStore({
        ...{ folder: join(root, 'models'), emptyFolder: join(root, 'no-models') },
        ...{ allowedFolders: [], privateHosts: [] },
      }),
    })
    this.#worker = { link, runner, executor }
    await link.start(runner)
  }

  get running(): number {
    return this.#worker?.runner.count ?? 0
  }

  /** The worker's process ends, its programs go on under their keepers. */
  async end(): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    await worker?.link.close()
    await worker?.executor.close('leave-running')
  }

  /** As on the first signal. */
  async shutDown(): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    worker?.link.drain()
    worker?.runner.stopAll({ cause: 'shutdown', text: 'its worker was shut down' }, 2000)
    await worker?.runner.idle()
    await worker?.link.leave('got SIGTERM', 3000)
    await worker?.executor.close('kill')
  }

  /** Nothing is left of it when this resolves. */
  async remove(): Promise<void> {
    if (this.#worker === null) await this.start().catch(() => {})
    const worker = this.#worker
    this.#worker = null
    worker?.runner.stopAll({ cause: 'canceled', text: 'the test is over' }, 0)
    await worker?.runner.idle()
    await worker?.link.close()
    await worker?.executor.close('kill')
    await removeTree(this.root)
    const settings = { timeout: 10_000, interval: 20 }
    await vi.waitFor(async () => expect(await processesWith(this.root)).toEqual([]), settings)
  }

  /** A file that programs of the test append to. */
  get marks(): string {
    return join(this.root, 'marks')
  }

  get marksMade(): string {
    try {
      return readFileSync(this.marks, 'utf8')
    } catch {
      return ''
    }
  }
}
