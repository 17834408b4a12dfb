import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import {
  type AttemptReport,
  type EndedReport,
  type Fence,
  fenceKey,
  type Holding,
  type JobSpecInput,
  type Offer,
  parseJobSpec,
} from '@stoker/protocol'
import { InputCache } from '../artifacts/input-cache.ts'
import { ModelStore } from '../artifacts/model-store.ts'
import type { Executor } from '../executors/port.ts'
import { createProcessExecutor } from '../executors/process-executor.ts'
import type { Delivery } from './delivery.ts'
import { Runner } from './runner.ts'
import { Workspaces } from './workspace.ts'

const PYTHON = '/usr/bin/python3'

/** A worker without a hub: a runner with real keepers that remembers what it would tell. */
export class SessionBench implements Delivery {
  readonly root: string
  readonly reports: AttemptReport[] = []
  readonly readySessions: Fence[] = []
  /** What an earlier process left. */
  holding: readonly Holding[] = []
  runner: Runner
  #executor: Executor
  readonly #workspaces: Workspaces
  readonly #waiting = new Map<string, (report: EndedReport) => void>()
  readonly #ended = new Map<string, EndedReport>()

  private constructor(root: string, runner: (bench: SessionBench) => [Runner, Executor, Workspaces]) {
    this.root = root
    ;[this.runner, this.#executor, this.#workspaces] = runner(this)
  }

  static async open(
    root = mkdtempSync(join(tmpdir(), 'stoker-')),
    told: ReadonlySet<string> = new Set(),
  ): Promise<SessionBench> {
    const cache = await InputCache.open(join(root, 'cache'), 1e6)
    for (const name of ['models', 'no-models']) mkdirSync(join(root, name), { recursive: true, mode: 0o755 })
    const bench = new SessionBench(root, delivery => {
      const workspaces = new Workspaces(join(root, 'attempts'))
      const executor = createProcessExecutor({ runtimeDir: join(root, 'run'), python: PYTHON, slots: 4 })
      const abilities = {
        ...{
          executors: ['process' as const],
          sandbox: true,
          unsandboxed: true,
          internet: false,
          hostNetwork: true,
          note: null,
        },
      }
      const contentOf = () => () => Promise.reject(new Error('nothing is to be moved here'))
      const runner = new Runner({
        ...{ executor, workspaces, delivery, abilities, gpus: [], visiblePaths: [] },
        ...{ transfers: { contentOf, cache, bandwidth: undefined }, env: { PATH: '/usr/bin:/bin' }, now: Date.now },
        python: { path: PYTHON, prefix: '/usr' },
        containers: { workerId: 'w', socket: () => null, imageCame: () => {} },
        models: new ModelStore({
          ...{ folder: join(root, 'models'), emptyFolder: join(root, 'no-models') },
          ...{ allowedFolders: [], privateHosts: [] },
        }),
      })
      return [runner, executor, workspaces]
    })
    bench.holding = await bench.runner.reattach(told)
    return bench
  }

  async close(): Promise<void> {
    this.runner.stopAll({ cause: 'canceled', text: 'the test is over' }, 0)
    await this.runner.idle()
    await this.#executor.close('kill')
    await removeTree(this.root)
  }

  report(reports: readonly AttemptReport[]): void {
    this.reports.push(...reports)
    for (const report of reports) if (report.kind === 'ended') this.#tell(report)
  }

  output(): void {}
  progress(): void {}

  ready(fence: Fence): void {
    this.readySessions.push(fence)
  }

  /** Starts the session of a program, as job 1. */
  session(program: string, more: Partial<JobSpecInput> = {}): Offer {
    const command = ['python3', '-c', program]
    const offer = anOffer(1, { command, session: {}, isolation: 'none', ...more })
    this.runner.start(offer)
    return offer
  }

  task(job: number, session: Offer, input: Record<string, unknown> = {}, more: Partial<JobSpecInput> = {}): Offer {
    const offer = aTask(job, session, input, more)
    this.runner.start(offer)
    return offer
  }

  /** The session an earlier process started. */
  get left(): Offer {
    return aSession({})
  }

  ended({ fence }: Offer): Promise<EndedReport> {
    const key = fenceKey(fence)
    const told = this.#ended.get(key)
    if (told !== undefined) return Promise.resolve(told)
    return new Promise(resolve => this.#waiting.set(key, resolve))
  }

  /** What the hub does when an end is durable. */
  acked({ fence }: Offer): Promise<void> {
    return this.#workspaces.remove(fence)
  }

  stdoutOf({ fence }: Offer): string {
    return readFileSync(join(this.#workspaces.folderOf(fence), 'stdout'), 'utf8')
  }

  #tell(report: EndedReport): void {
    const key = fenceKey(report.fence)
    this.#ended.set(key, report)
    this.#waiting.get(key)?.(report)
  }
}

export function aTask(
  job: number,
  session: Offer,
  input: Record<string, unknown> = {},
  more: Partial<JobSpecInput> = {},
): Offer {
  const { fence } = session
  return { ...anOffer(job, { task: { session: session.id }, input: input as never, ...more }), session: fence }
}

export function aSession(session: NonNullable<JobSpecInput['session']>): Offer {
  return anOffer(1, { command: ['true'], session })
}

function anOffer(job: number, spec: JobSpecInput): Offer {
  const parsed = parseJobSpec(spec)
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return { fence: { job, epoch: 1, attempt: 1 }, id: `job-${job}`, spec: parsed.spec, gpus: [] }
}
