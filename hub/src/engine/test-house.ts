import {
  type AttemptReport,
  type Change,
  type DeviceNews,
  type Fence,
  type Hello,
  type JobSpecInput,
  PROTOCOL,
  parseJobSpec,
  writeSpec,
} from '@stoker/protocol'
import { packed } from '../scheduler/packed.ts'
import type { Policy } from '../scheduler/policy.ts'
import { schedulingRules } from '../scheduler/rules.ts'
import type { Command, Facts, NewJob, ReplyTo } from './commands.ts'
import { NO_FACTS } from './commands.ts'
import { type Batch, Core } from './core.ts'
import { hearDevices } from './device-news.ts'
import { hear, setConnected } from './liveness.ts'
import { emptyState, type Now } from './state.ts'

/** A job as a test names it: what differs from a plain no-op. */
export function aJob(spec: JobSpecInput = {}, id = `job-${Math.random()}`): NewJob {
  const parsed = parseJobSpec({ type: spec.command === undefined ? 'noop' : 'command', ...spec })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.issues))
  return { id, spec: parsed.spec, specText: writeSpec(parsed.spec), retryOf: null }
}

export function aHello(workerId: string, facts: Partial<Hello> & { readonly gpus?: number } = {}): Hello {
  const { gpus = 0, ...rest } = facts
  return {
    t: 'hello',
    protocol: PROTOCOL,
    version: '0.1.0',
    workerId,
    bootId: 'boot-1',
    name: workerId,
    tags: [],
    maxJobs: 4,
    cpus: 4,
    memoryBytes: 8e9,
    window: 100,
    hardware: {
      cpuModel: 'test',
      cores: 4,
      memoryBytes: 8e9,
      disk: { freeBytes: 1e9, totalBytes: 1e9 },
      hostname: workerId,
      os: 'test',
      arch: 'x64',
      pythons: [],
      gpus: Array.from({ length: gpus }, (_, index) => ({
        index,
        uuid: `${workerId}-gpu-${index}`,
        name: 'Test GPU',
        memoryMb: 24_000,
        driver: null,
        simulated: false,
      })),
      gpuNote: null,
    },
    abilities: {
      executors: ['inline', 'process'],
      sandbox: true,
      unsandboxed: true,
      internet: true,
      hostNetwork: false,
      note: null,
    },
    epochSeen: 0,
    nextBatch: 1,
    holding: [],
    draining: false,
    ...rest,
  }
}

/** A core with its clock in the test's hands; every command is one batch. */
export class TestHouse {
  readonly core: Core
  readonly journal: Batch[] = []
  #now: Now = { wall: 1_000_000, lease: 0 }
  readonly #batches = new Map<string, number>()

  constructor(policy: Policy = packed) {
    this.core = new Core(emptyState(), policy, schedulingRules)
    this.core.record({ c: 'epoch', epoch: 100, at: this.#now.wall })
    this.core.record({
      c: 'token',
      id: 'join',
      hash: 'join-hash',
      role: 'join',
      owner: 'ann',
      label: '',
      at: 0,
      expiresAt: null,
    })
    this.close()
  }

  get state() {
    return this.core.state
  }

  get now(): Now {
    return this.#now
  }

  /** Time passes, seconds at a time, while the given workers are heard. */
  pass(seconds: number, heard: readonly string[] = []): void {
    for (let i = 0; i < seconds; i += 1) {
      this.#now = { wall: this.#now.wall + 1000, lease: this.#now.lease + 1000 }
      for (const worker of heard) hear(this.state, worker, this.#now)
      this.run({ kind: 'tick' })
    }
  }

  setClock(byMs: number): void {
    this.#now = { ...this.#now, wall: this.#now.wall + byMs }
  }

  run<C extends Command>(command: C, facts: Partial<Facts> = NO_FACTS): ReplyTo<C> {
    const reply = this.core.execute(command, { ...NO_FACTS, ...facts }, this.#now) as ReplyTo<C>
    this.close()
    return reply
  }

  close(): readonly Change[] {
    const batch = this.core.finish(this.#now)
    if (batch !== null) this.journal.push(batch)
    return batch?.changes ?? []
  }

  get lastChanges(): readonly Change[] {
    return this.journal.at(-1)?.changes ?? []
  }

  submit(...jobs: NewJob[]): number {
    return this.submitAs('ann', ...jobs)
  }

  submitAs(owner: string, ...jobs: NewJob[]): number {
    return this.run({ kind: 'submit', owner, jobs, key: null, failFast: false }).firstSeq
  }

  /** As a worker's live message does. */
  tellDevices(worker: string, news: readonly DeviceNews[]): void {
    hearDevices(this.state, worker, news)
    this.close()
  }

  join(hello: Hello) {
    const token = this.state.tokens.get('join')
    if (token !== undefined) token.usedBy = null
    const reply = this.run({ kind: 'hello', hello, secretHash: `secret-${hello.workerId}`, joinHash: 'join-hash' })
    setConnected(this.state, hello.workerId, true)
    hear(this.state, hello.workerId, this.#now)
    this.close()
    return reply
  }

  /** Sends reports as the worker's next batch. */
  report(worker: string, ...reports: AttemptReport[]) {
    const n = (this.#batches.get(worker) ?? 0) + 1
    this.#batches.set(worker, n)
    return this.run({ kind: 'report', worker, n, reports, rows: [] })
  }

  fenceOf(job: number): Fence {
    const claim = this.state.active.get(job)?.claim
    if (claim === undefined) throw new Error(`job ${job} is not active`)
    return { job: claim.job, epoch: claim.epoch, attempt: claim.attempt }
  }

  running(fence: Fence): AttemptReport {
    return { kind: 'running', fence, at: this.#now.wall, isolation: 'inline' }
  }

  ended(
    fence: Fence,
    outcome: 'completed' | 'failed' | 'canceled' | 'timed_out' | 'lost',
    error: string | null = null,
  ): AttemptReport {
    return {
      kind: 'ended',
      fence,
      at: this.#now.wall,
      outcome,
      startedAt: this.#now.wall,
      exitCode: outcome === 'completed' ? 0 : 1,
      signal: null,
      error,
      note: null,
      result: null,
      usage: null,
    }
  }

  /** The job's present state, or how it ended. */
  stateOf(job: number): string {
    if (this.state.queued.has(job)) return 'queued'
    if (this.state.waiting.has(job)) return 'waiting'
    if (this.state.active.has(job)) return 'active'
    const ends = this.journal.flatMap(batch => batch.changes).filter(c => 'job' in c && c.job === job)
    const last = ends.findLast(c => c.c === 'ended' || c.c === 'attemptEnded')
    return last?.c === 'ended' ? last.state : last?.c === 'attemptEnded' ? last.next : 'unknown'
  }
}
