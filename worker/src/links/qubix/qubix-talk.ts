import type { Log } from '@stoker/files'
import { type Backoff, retrying } from '@stoker/net'
import type { Abilities, Gpu, GpuSample, HostSample, Progress } from '@stoker/protocol'
import { type Answer, HubAway, type HubCalls, isFine, isTemporary } from '../foreign/hub-calls.ts'
import { type LogLine, nextLines } from '../foreign/log-tail.ts'
import { Pulse } from '../foreign/pulse.ts'
import type { PutTarget } from '../foreign/put-target.ts'
import { type Beginning, CannotStart, type HeldJob, type Talk } from '../foreign/talk.ts'
import { completionBody, withoutInline } from './qubix-completion.ts'
import { type QubixJob, specOf } from './qubix-job.ts'
import { gpuMetrics, stamp } from './qubix-machine.ts'

const PROGRESS_TIMEOUT_MS = 5_000
const COMPLETE_TIMEOUT_MS = 10_000
const MAX_LOG_LINES = 200
/** A new phase is told at once, but a program that names a new one with every batch is no flood. */
const LEAST_MS = 1_000
/** Progress and lines go before the end; a backend that takes only ends must not keep us from telling it. */
const LAST_WORD_TRIES = 3
const UNWANTED: readonly number[] = [403, 409, 410]
/** What a script may print on a line of its own. */
const PRINTED = /^PROGRESS (\d{1,3})(?:\s+(.*))?$/

export interface QubixTalkPorts {
  readonly calls: HubCalls
  readonly workerId: string
  readonly progressMs: number
  readonly backoff: Backoff
  readonly gpus: readonly Gpu[]
  readonly memoryBytes: number
  readonly target: PutTarget | null
  readonly abilities: () => Abilities
  readonly samples: () => readonly GpuSample[]
  readonly host: () => HostSample
  readonly isInterrupted: () => boolean
  readonly now: () => number
  readonly random: () => number
  readonly log: Log
}

/** The conversation about one job: claim, progress with lines, the completion. */
export class QubixTalk implements Talk {
  readonly #job: HeldJob
  readonly #ports: QubixTalkPorts
  readonly #pulse: Pulse
  #percent = 1
  #operation = 'starting'
  #metrics: Progress['metrics'] = {}
  #missing = 0

  constructor(job: HeldJob, ports: QubixTalkPorts) {
    this.#job = job
    this.#ports = ports
    this.#pulse = new Pulse({
      everyMs: ports.progressMs,
      leastMs: Math.min(LEAST_MS, ports.progressMs),
      beat: () => this.#tellProgress(),
      failed: error => ports.log('debug', `job ${job.record.id}: no progress was told: ${String(error)}`),
    })
    if (job.record.startedAt !== null && job.record.end === null) this.#pulse.start()
  }

  /** The first progress is the claim. A backend that cannot be reached has given us the job all the same. */
  async begin(): Promise<Beginning> {
    const { record } = this.#job
    const spec = specOf(record.job as unknown as QubixJob, record.uuids.length, this.#ports.abilities())
    if (typeof spec === 'string') throw new CannotStart(spec)
    const answer = await this.#post([]).catch(() => null)
    if (answer !== null && (UNWANTED.includes(answer.status) || asksToStop(answer))) return 'refused'
    this.#pulse.start(this.#ports.progressMs)
    return spec
  }

  started(): void {
    this.#phase('running')
  }

  progress({ percent, operation, metrics }: Progress): void {
    if (percent !== null) this.#percent = Math.min(99, Math.max(1, Math.round(percent)))
    if (Object.keys(metrics).length > 0) this.#metrics = metrics
    if (operation !== null) this.#phase(operation)
  }

  output(): void {}

  async finish(): Promise<void> {
    await this.#pulse.stop()
    await this.#saySaid()
    let tries = 0
    const { signal } = this.#job
    const once = async () => {
      tries += 1
      if (tries <= LAST_WORD_TRIES) await this.#lastProgress()
      await this.#complete()
    }
    await retrying(once, { ...this.#ports.backoff, random: this.#ports.random, signal, isTemporary: isAway })
  }

  async close(): Promise<void> {
    await this.#pulse.stop()
  }

  #phase(operation: string): void {
    if (operation === this.#operation) return
    this.#operation = operation
    this.#pulse.hurry()
  }

  async #saySaid(): Promise<void> {
    const { record } = this.#job
    if (record.said !== null || record.end === null) return
    const { workerId, memoryBytes, target, now } = this.#ports
    const isInterrupted = this.#ports.isInterrupted()
    record.said = await completionBody(this.#job, record.end, { workerId, memoryBytes, target, isInterrupted, now })
    this.#job.save({ durable: true })
  }

  /** Every line, then the last value: 100 for what succeeded. */
  async #lastProgress(): Promise<void> {
    const { record } = this.#job
    if (record.end?.startedAt == null) return
    if (record.end.outcome === 'completed') this.#percent = 100
    this.#operation = record.end.outcome
    for (let isMore = true; isMore; ) {
      const { status, hasMore } = await this.#tellLines(true)
      if (isTemporary(status)) throw new HubAway(`progress was answered with ${status}`)
      isMore = hasMore
    }
  }

  async #complete(): Promise<void> {
    const { record, signal } = this.#job
    const { calls, log } = this.#ports
    const json = record.said ?? ''
    const answer = await sendCompletion(calls, record.id, json, signal)
    const slim = answer.status === 413 ? withoutInline(json) : null
    if (slim !== null) {
      record.said = slim
      this.#job.save({ durable: true })
      return this.#complete()
    }
    if (isTemporary(answer.status)) throw new HubAway(`the end was answered with ${answer.status}`)
    if (!isFine(answer.status))
      log('warn', `job ${record.id}: the backend refused its end with ${answer.status}: ${answer.text}`)
  }

  async #tellProgress(): Promise<void> {
    for (let isMore = true; isMore; ) {
      const { hasMore } = await this.#tellLines(false)
      isMore = hasMore
    }
  }

  async #tellLines(hasEnded: boolean): Promise<{ readonly status: number; readonly hasMore: boolean }> {
    const { record, folder } = this.#job
    const part = await nextLines(folder, record.logged, record.sizes, { max: MAX_LOG_LINES, hasEnded })
    this.#heed(part.lines)
    const answer = await this.#post(part.lines)
    if (!hasEnded) this.#heedAnswer(answer)
    if (!isFine(answer.status) || !part.hasMoved) return { status: answer.status, hasMore: false }
    record.logged = { ...part.upTo }
    this.#job.save()
    return { status: answer.status, hasMore: part.hasMore }
  }

  #heed(lines: readonly LogLine[]): void {
    const said = lines.flatMap(({ stream, text }) => (stream === 'stdout' ? (PRINTED.exec(text) ?? []) : []))
    if (said.length === 0) return
    const [percent, operation] = said.slice(-2)
    if (this.#percent < 100) this.#percent = Math.min(99, Math.max(1, Number(percent)))
    if (operation) this.#operation = operation
  }

  async #post(lines: readonly LogLine[]): Promise<Answer> {
    const { calls, workerId, now } = this.#ports
    const { id } = this.#job.record
    const timestamp = stamp(now())
    const json = JSON.stringify({
      workerId,
      worker_id: workerId,
      progress: this.#percent,
      currentOperation: this.#operation,
      timestamp,
      metrics: { ...this.#metrics, ...this.#measured() },
      ...(lines.length === 0
        ? {}
        : { logLines: lines.map(({ level, text }) => ({ level, message: text, timestamp })) }),
    })
    const path = `/api/jobs/${encodeURIComponent(id)}/progress`
    const { signal } = this.#job
    return calls.send({ method: 'POST', path, json, timeoutMs: PROGRESS_TIMEOUT_MS, signal })
  }

  #heedAnswer(answer: Answer): void {
    const { status } = answer
    this.#missing = status === 404 ? this.#missing + 1 : 0
    if (asksToStop(answer)) this.#job.stop('canceled by the backend')
    else if (UNWANTED.includes(status) || this.#missing >= 2)
      this.#job.stop(`the backend does not want it any more: it answered ${status}`)
  }

  #measured(): Record<string, number> {
    const { uuids } = this.#job.record
    const { gpus, samples, host, memoryBytes } = this.#ports
    const gpu = gpus.find(({ uuid }) => uuid === uuids[0])
    const sample = samples().find(({ uuid }) => uuid === uuids[0])
    const { cpuPercent, memoryUsedBytes } = host()
    const { usage } = this.#job
    return {
      ...(gpu === undefined || sample === undefined ? {} : gpuMetrics(gpu, sample)),
      cpuPercent,
      ramPercent: Math.round((1000 * memoryUsedBytes) / memoryBytes) / 10,
      ...(usage?.memoryBytes == null ? {} : { jobMemoryMb: Math.round(usage.memoryBytes / 2 ** 20) }),
      ...(usage?.cpus == null ? {} : { jobCpus: Math.round(usage.cpus * 100) / 100 }),
    }
  }
}

/** Also for a backend that lost what it was told. */
export function sendCompletion(calls: HubCalls, id: string, json: string, signal: AbortSignal): Promise<Answer> {
  const path = `/api/jobs/${encodeURIComponent(id)}/complete`
  return calls.send({ method: 'POST', path, json, timeoutMs: COMPLETE_TIMEOUT_MS, signal })
}

function asksToStop({ json }: Answer): boolean {
  return typeof json === 'object' && json !== null && (json as { readonly cancel?: unknown }).cancel === true
}

function isAway(error: unknown): boolean {
  return error instanceof HubAway
}
