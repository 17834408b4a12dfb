import type { Change, ChangeOf } from '@stoker/protocol'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { State } from '../../engine/state.ts'
import { countJobs } from '../service.ts'
import { PlainHistogram } from './histogram.ts'
import { SubmissionTimes } from './submission-times.ts'

const SECONDS = [0.01, 0.1, 1, 5, 30, 120, 600, 3600, 6 * 3600, 24 * 3600]

/** Why the jobs of a bucket are not placed, as a short code; computed for a whole bucket at once. */
export type WaitCode = (state: State, bucket: number) => string

/** Figures of jobs: counted as commits go by, or read from live state when asked. */
export class JobFigures {
  readonly #times = new SubmissionTimes()
  readonly #waitCode: WaitCode
  readonly #jobs: Gauge
  readonly #queued: Gauge
  readonly #oldest: Gauge
  readonly waits = new PlainHistogram({
    name: 'stoker_job_wait_seconds',
    help: 'From the submit of a job to the start of its first attempt',
    buckets: SECONDS,
  })
  readonly #runs: Histogram
  readonly #ends: Counter

  constructor(registry: Registry, waitCode: WaitCode) {
    const registers = [registry]
    this.#waitCode = waitCode
    this.#jobs = new Gauge({
      name: 'stoker_jobs',
      help: 'Jobs by state, of all owners, ended ones included',
      labelNames: ['state'],
      registers,
    })
    this.#queued = new Gauge({
      name: 'stoker_queued_jobs',
      help: 'Queued jobs by why they have not started',
      labelNames: ['reason'],
      registers,
    })
    this.#oldest = new Gauge({
      name: 'stoker_oldest_queued_seconds',
      help: 'Age of the oldest queued job; 0 when nothing is queued',
      registers,
    })
    this.#runs = new Histogram({
      name: 'stoker_attempt_run_seconds',
      help: 'From the start of an attempt to its end',
      labelNames: ['outcome'],
      buckets: SECONDS,
      registers,
    })
    this.#ends = new Counter({
      name: 'stoker_attempts_ended_total',
      help: 'Attempts that ended, by outcome and cause; lost ones included',
      labelNames: ['outcome', 'cause'],
      registers,
    })
  }

  take(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.c === 'submitted') this.#times.mark(change.jobs[0]?.seq ?? 0, change.at)
      else if (change.c === 'placed' && change.attempt === 1) this.#waited(change.job, change.at)
      else if (change.c === 'attemptEnded') this.#ended(change)
      else if (change.c === 'lost') this.#ends.inc({ outcome: 'lost', cause: 'silence' })
    }
  }

  look(state: State, now: number): void {
    for (const [name, n] of Object.entries(countJobs(state, null))) this.#jobs.set({ state: name }, n)
    this.#queued.reset()
    let oldest: number | null = null
    for (const bucket of state.queued.buckets()) {
      this.#queued.inc({ reason: this.#waitCode(state, bucket) }, state.queued.sizeOf(bucket))
      const head = state.queued.oldest(bucket)
      if (head !== null && (oldest === null || head < oldest)) oldest = head
    }
    const since = oldest === null ? null : this.#times.at(oldest)
    this.#oldest.set(since === null ? 0 : Math.max(0, now - since) / 1000)
  }

  #waited(job: number, at: number): void {
    const since = this.#times.at(job)
    if (since !== null) this.waits.observe(Math.max(0, at - since) / 1000)
  }

  #ended(change: ChangeOf<'attemptEnded'>): void {
    this.#ends.inc({ outcome: change.outcome, cause: causeOf(change) })
    if (change.startedAt !== null)
      this.#runs.observe({ outcome: change.outcome }, Math.max(0, change.at - change.startedAt) / 1000)
  }
}

function causeOf({ outcome, error, signal, exitCode }: ChangeOf<'attemptEnded'>): string {
  if (outcome === 'canceled' || outcome === 'timed_out' || outcome === 'declined') return outcome
  if (outcome === 'lost') return 'worker'
  if (error?.startsWith('out of memory') === true) return 'memory'
  if (signal !== undefined && signal !== null) return 'signal'
  return exitCode === null ? 'setup' : 'exit'
}
