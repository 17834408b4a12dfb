import type { Fence, JobRow } from '@stoker/protocol'
import { Refused } from '@stoker/protocol'
import type { ActiveJob } from '../../engine/state.ts'
import type { DialectCaller } from '../../serving/dialect-caller.ts'
import { QubixError } from './answers.ts'
import { type CompleteBody, type ProgressBody, workerIdIn } from './bodies.ts'
import { completionVerdict } from './completion.ts'
import type { QubixContext } from './context.ts'
import type { HandOut } from './hand-out.ts'
import { heardOf } from './heard.ts'
import { appendLastWords, appendTexts, textsOf } from './output.ts'
import { providerId } from './provider-key.ts'
import { type ProviderNote, readNote } from './provider-note.ts'
import { gpuSamples, type Sample, sampleOf } from './sample.ts'
import { type JobStanding, standingBySeq, standingOf } from './standing.ts'
import { storable } from './storable.ts'
import { toldEnd } from './told-end.ts'
import type { Turns } from './turns.ts'

/** What a worker learns from its progress: whether it must stop, and how long the job may still take. */
export interface Course {
  readonly mustStop: boolean
  readonly secondsLeft: number | null
}

/** The job after its end was told; a duplicate changed nothing. */
export interface Settled {
  readonly isDuplicate: boolean
  readonly row: JobRow | null
}

/** Where workers of this dialect say how their jobs go and how they ended. */
export class JobDesk {
  readonly #context: QubixContext
  readonly #turns: Turns
  readonly #handOut: HandOut

  constructor(context: QubixContext, turns: Turns, handOut: HandOut) {
    this.#context = context
    this.#turns = turns
    this.#handOut = handOut
  }

  /** In any order, at any rate, also late. */
  progress(caller: DialectCaller, jobId: string, body: ProgressBody): Promise<Course> {
    const worker = providerId(caller.token, workerIdIn(body))
    return this.#turns.take(worker, async () => {
      await this.#known(worker)
      const { standing, fence, row, active } = await this.#standing(worker, jobId)
      if (standing === 'foreign') throw notYours(jobId)
      if (standing === 'canceled' || fence === null || row !== null)
        return { mustStop: row?.state !== 'succeeded', secondsLeft: null }
      await this.#advance(worker, fence, standing === 'lost' ? null : active, body)
      return { mustStop: false, secondsLeft: active === null ? null : await this.#left(active, body.progress) }
    })
  }

  /** Durable before it is answered: an old worker never says it twice. */
  complete(caller: DialectCaller, jobId: string, body: CompleteBody): Promise<Settled> {
    const worker = providerId(caller.token, workerIdIn(body))
    return this.#turns.take(worker, async () => {
      const note = await this.#known(worker)
      const found = await this.#standing(worker, jobId)
      const verdict = completionVerdict(found.standing, body)
      const after = { ...note, discardsNext: note.variant !== 'capable' }
      if (verdict === 'take' && found.fence !== null) await this.#end(worker, found.fence, body, after)
      else if (verdict === 'hold' && found.fence !== null) await this.#hold(worker, found.fence, body, after)
      else await this.#remember(worker, after)
      if (verdict === 'refuse') throw notYours(jobId)
      const [row = null] = await this.#context.queries.jobsBySeq([found.seq])
      return { isDuplicate: verdict === 'duplicate', row }
    })
  }

  /** A job that nobody has belongs to the worker that speaks of it, if it may run it: ids cannot be guessed. */
  async #standing(worker: string, jobId: string): Promise<JobStanding> {
    const seq = this.#handOut.seqOf(worker, jobId)
    const found = await (seq === null
      ? standingOf(this.#context, worker, jobId)
      : standingBySeq(this.#context, worker, seq))
    if (found === null) throw new QubixError(404, `no job has the id ${jobId.slice(0, 100)}`)
    if (found.standing !== 'queued') return found
    try {
      await this.#context.engine.execute({ kind: 'claim', worker, job: found.seq })
    } catch (error) {
      if (error instanceof Refused) throw new QubixError(403, `the job is not yours, and cannot be: ${error.message}`)
      throw error
    }
    return (await standingBySeq(this.#context, worker, found.seq)) ?? found
  }

  async #known(worker: string): Promise<ProviderNote> {
    const note = await this.#context.engine.read(state => readNote(state.workers.get(worker)?.note ?? null))
    if (note === null) throw new QubixError(403, 'no worker is registered under this id and token')
    heardOf(this.#context.engine, worker)
    return note
  }

  /** The first value between 0 and 100 is the start; what is seen counts up only. */
  async #advance(worker: string, fence: Fence, active: ActiveJob | null, body: ProgressBody): Promise<void> {
    const { engine, streams, now } = this.#context
    const percent = Math.min(100, Math.max(0, body.progress))
    const isStart = active === null || (active.state !== 'running' && percent >= 1 && percent <= 99)
    const rows = await appendTexts(streams, fence, textsOf(body.logLines ?? []), now())
    if (isStart || rows.length > 0) {
      const running = { kind: 'running', fence, at: now(), isolation: 'none' } as const
      const reports = isStart ? [running] : []
      const { stale } = await engine.execute({ kind: 'report', worker, n: null, reports, rows })
      if (rows.length > 0) streams.committed(rows)
      if (stale.length > 0) throw new QubixError(403, 'the job was given to another worker meanwhile')
    }
    this.#show(worker, fence, percent, body)
  }

  #show(worker: string, fence: Fence, percent: number, { currentOperation, metrics }: ProgressBody): void {
    const { engine, board, now } = this.#context
    const before = board.job(fence.job)
    const highest = before?.attempt === fence.attempt ? (before.progress?.percent ?? 0) : 0
    const sample = sampleOf(metrics ?? {})
    let uuid: string | undefined
    engine.touch((state, clock) => {
      const active = state.active.get(fence.job)
      if (active !== undefined) active.newsAt = clock.lease
      uuid = state.workers.get(worker)?.facts.hardware.gpus[0]?.uuid
    })
    const progress = {
      percent: Math.max(percent, highest),
      operation: currentOperation || null,
      metrics: sample === null ? {} : figuresOf(sample),
    }
    board.put(worker, {
      t: 'live',
      at: now(),
      host: null,
      gpus: sample === null ? [] : [...gpuSamples(sample, uuid)],
      attempts: [{ fence, progress, cpus: null, memoryBytes: null }],
    })
  }

  async #end(worker: string, fence: Fence, body: CompleteBody, note: ProviderNote): Promise<void> {
    const { engine, streams, now } = this.#context
    const look = await engine.read(state => {
      const active = state.active.get(fence.job)
      const type = state.buckets.get(active?.bucket ?? state.queued.get(fence.job)?.bucket ?? -1)?.shape.type ?? ''
      const trust = state.workers.get(worker)?.facts.abilities.foreign?.types[type]
      return { type, isTrusted: trust === 'verified', startedAt: active?.runningAt ?? active?.placedAt ?? null }
    })
    const { stdout, stderr, ...end } = toldEnd(body, { variant: note.variant, ...look })
    const rows = await appendLastWords(streams, fence, { stdout, stderr }, now())
    const how = { at: now(), startedAt: look.startedAt, signal: null, usage: null }
    const report = { kind: 'ended', fence, ...how, ...end } as const
    await Promise.all([
      engine.execute({ kind: 'report', worker, n: null, reports: [report], rows }),
      engine.execute({ kind: 'note', worker, note: { ...note, held: null } }),
    ])
    if (rows.length > 0) streams.committed(rows)
    this.#handOut.forget(worker)
  }

  async #hold(worker: string, fence: Fence, { error }: CompleteBody, note: ProviderNote): Promise<void> {
    const { engine, now } = this.#context
    const running = { kind: 'running', fence, at: now(), isolation: 'none' } as const
    await Promise.all([
      engine.execute({ kind: 'report', worker, n: null, reports: [running], rows: [] }),
      this.#remember(worker, { ...note, held: { ...fence, error: storable(error ?? '', 500) } }),
    ])
  }

  async #remember(worker: string, note: ProviderNote): Promise<void> {
    await this.#context.engine.execute({ kind: 'note', worker, note: note })
  }

  /** Unknown of scripts: what their workers tell is the time that has passed. */
  async #left({ runningAt, bucket }: ActiveJob, percent: number): Promise<number | null> {
    const type = await this.#context.engine.read(state => state.buckets.get(bucket)?.shape.type)
    if (runningAt === null || type === 'custom_script' || !(percent > 0 && percent <= 100)) return null
    const elapsed = (this.#context.now() - runningAt) / 1000
    return elapsed > 0 ? Math.max(0, Math.round((elapsed * 100) / percent - elapsed)) : null
  }
}

function notYours(jobId: string): QubixError {
  return new QubixError(403, `job ${jobId} is with another worker`)
}

function figuresOf(sample: Sample): Record<string, number> {
  const figures: readonly (readonly [string, number | null])[] = Object.entries(sample)
  return Object.fromEntries(figures.flatMap(([name, value]) => (value === null ? [] : [[name, value]])))
}
