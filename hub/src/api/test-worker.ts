import { randomBytes, randomUUID } from 'node:crypto'
import { sha256 } from '@stoker/files'
import { type AttemptReport, type EndedReport, type Fence, type Hello, PROTOCOL } from '@stoker/protocol'
import { hear, setConnected } from '../engine/liveness.ts'
import { holdArtifacts } from '../gateways/native/artifacts.ts'
import type { StreamName } from '../outputs/port.ts'
import type { TestHub } from './test-hub.ts'

/** A worker as the engine sees one, without a connection: it says what a test tells it to say. */
export class TestWorker {
  readonly id = randomUUID()
  readonly secret = randomBytes(16).toString('base64url')
  readonly #hub: TestHub
  readonly #ends = new Map<string, number>()
  #batch = 0

  private constructor(hub: TestHub) {
    this.#hub = hub
  }

  static async join(hub: TestHub, hello: Partial<Hello> = {}): Promise<TestWorker> {
    const worker = new TestWorker(hub)
    const join = await hub.token('join', 'ada')
    const secretHash = sha256(worker.secret)
    await hub.engine.execute({ kind: 'hello', hello: aHello(worker.id, hello), secretHash, joinHash: sha256(join) })
    hub.engine.touch(state => setConnected(state, worker.id, true))
    worker.#beat()
    return worker
  }

  /** The attempt of the job, once it is placed here. */
  async placed(jobId: string): Promise<Fence> {
    const row = await this.#hub.store.queries.jobById(jobId)
    if (row === null) throw new Error(`no job ${jobId}`)
    this.#beat()
    const find = () => this.#hub.engine.read(state => state.workers.get(this.id)?.active.get(row.seq)?.claim)
    const claim = (await find()) ?? (await this.#nextCommitWith(find))
    return { job: claim.job, epoch: claim.epoch, attempt: claim.attempt }
  }

  async report(...reports: readonly AttemptReport[]): Promise<void> {
    await this.#send(reports, [])
  }

  running(fence: Fence): Promise<void> {
    return this.report({ kind: 'running', fence, at: Date.now(), isolation: 'none' })
  }

  /** Output goes the way of a gateway: shown, synced, committed with its index. */
  async output(fence: Fence, stream: StreamName, text: string | Uint8Array, at = Date.now()): Promise<void> {
    const bytes = Buffer.from(text)
    const key = `${fence.job}-${fence.epoch}-${fence.attempt}-${stream}`
    const offset = this.#ends.get(key) ?? 0
    this.#ends.set(key, offset + bytes.length)
    await this.#send([], await this.#hub.streams.append([{ fence, stream, offset, at, bytes }]))
  }

  async ended(fence: Fence, end: Partial<EndedReport> = {}): Promise<void> {
    await this.report({
      kind: 'ended',
      fence,
      at: Date.now(),
      outcome: 'completed',
      startedAt: null,
      exitCode: 0,
      signal: null,
      error: null,
      note: null,
      result: null,
      usage: null,
      ...end,
    })
  }

  /** A test may take longer than a worker may be silent, and has no time to let it rest. */
  #beat(): void {
    this.#hub.engine.touch((state, now) => {
      hear(state, this.id, now)
      state.workers.get(this.id)?.coolDown.clear()
      state.dirtyWorkers.add(this.id)
    })
    this.#hub.engine.replan()
  }

  async #send(
    reports: readonly AttemptReport[],
    rows: Awaited<ReturnType<TestHub['streams']['append']>>,
  ): Promise<void> {
    this.#batch += 1
    const { missing, release } = await holdArtifacts(this.#hub, reports)
    const report = { kind: 'report', worker: this.id, n: this.#batch, reports, rows, missing } as const
    await this.#hub.engine.execute(report).finally(release)
    this.#hub.streams.committed(rows)
  }

  #nextCommitWith<T>(find: () => Promise<T | undefined>): Promise<T> {
    return new Promise(resolve => {
      const stop = this.#hub.engine.onCommit(async () => {
        const found = await find()
        if (found === undefined) return
        stop()
        resolve(found)
      })
    })
  }
}

export const HARDWARE = {
  cpuModel: 'test',
  cores: 8,
  memoryBytes: 16e9,
  disk: { freeBytes: 1e12, totalBytes: 1e12 },
  hostname: 'here',
  os: 'linux',
  arch: 'x64',
  pythons: [],
  gpus: [],
  gpuNote: null,
}

function aHello(workerId: string, overrides: Partial<Hello> = {}): Hello {
  return {
    t: 'hello',
    protocol: { ...PROTOCOL },
    version: '0.0.0-test',
    workerId,
    bootId: 'boot',
    name: 'bench',
    tags: ['lab'],
    maxJobs: 8,
    cpus: 8,
    memoryBytes: 16e9,
    window: 8,
    hardware: HARDWARE,
    abilities: {
      executors: ['inline', 'process'],
      sandbox: true,
      unsandboxed: true,
      internet: true,
      hostNetwork: true,
      note: null,
    },
    epochSeen: 0,
    nextBatch: 1,
    holding: [],
    draining: false,
    ...overrides,
  }
}
