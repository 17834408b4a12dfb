import {
  type AttemptState,
  type Change,
  type ChangeOf,
  type Fence,
  isTerminal,
  type JobState,
  type Outcome,
  sameFence,
} from '@stoker/protocol'
import { canMoveAttempt, moveJob } from '../engine/life-cycle.ts'
import { type Complain, nameFence } from './problems.ts'
import { WaitCauses } from './wait-causes.ts'

interface JobLife {
  state: JobState
  attempt: number
  fence: Fence | null
  attemptState: AttemptState
}

/** What each outcome may make of its job; anything else published something that did not happen. */
const NEXT: Readonly<Record<Outcome, readonly JobState[]>> = {
  completed: ['succeeded'],
  failed: ['failed', 'waiting'],
  timed_out: ['timed_out', 'waiting'],
  canceled: ['canceled'],
  lost: ['queued', 'failed', 'canceled'],
  declined: ['queued', 'canceled'],
}

/** Follows every job through its life: legal moves, one terminal state, growing attempts, results only from the current fence. */
export class JobLives {
  readonly #jobs = new Map<number, JobLife | JobState>()
  readonly #complain: Complain
  readonly #isWhole: boolean
  readonly #causes: WaitCauses
  #epoch = 0

  /** Without the beginning of the journal, a job first met in the middle of its life is believed once. */
  constructor(complain: Complain, isWhole: boolean) {
    this.#complain = complain
    this.#isWhole = isWhole
    this.#causes = new WaitCauses(complain, isWhole, seq => this.stateOf(seq))
  }

  get live(): number {
    let count = 0
    for (const job of this.#jobs.values()) if (typeof job !== 'string') count += 1
    return count
  }

  stateOf(seq: number): JobState | null {
    const job = this.#jobs.get(seq)
    return job === undefined ? null : typeof job === 'string' ? job : job.state
  }

  take(change: Change): void {
    this.#causes.take(change)
    switch (change.c) {
      case 'epoch':
        if (change.epoch <= this.#epoch)
          this.#complain('b', `epoch ${change.epoch} began after epoch ${this.#epoch}; epochs only grow`)
        this.#epoch = change.epoch
        break
      case 'submitted':
        for (const { seq } of change.jobs) this.#submit(seq)
        break
      case 'placed':
        this.#place(change)
        break
      case 'starting':
      case 'running':
        this.#moveAttempt(change.job, change.c)
        break
      case 'stopRequested':
        this.#moveAttempt(change.job, 'stopping')
        break
      case 'attemptEnded':
        this.#end(change)
        break
      case 'lost':
        this.#current(change, 'lost')
        this.#move(change.job, 'queued')
        break
      case 'resumed':
        this.#resume(change)
        break
      case 'ended':
        this.#move(change.job, change.state)
        break
      case 'held':
        if (this.#life(change.job, 'queued')?.state !== 'waiting') this.#move(change.job, 'waiting')
        break
      case 'forgotten':
        for (const seq of change.jobs) this.#forget(seq, change.state)
        break
      case 'due':
      case 'met':
      case 'holdLifted':
        this.#freed(change.job)
        break
      default:
    }
  }

  #submit(seq: number): void {
    if (this.#jobs.has(seq)) this.#complain('a', `job ${seq} was submitted, but it is already ${this.stateOf(seq)}`)
    const state = this.#causes.has(seq) ? 'waiting' : 'queued'
    this.#jobs.set(seq, { state, attempt: 0, fence: null, attemptState: 'ended' })
  }

  /** One cause to wait is gone; the last one lets the job go. Causes from before a pruned journal are not known. */
  #freed(job: number): void {
    const life = this.#life(job, 'waiting')
    if (life === null || this.#causes.has(job) || (!this.#isWhole && life.state === 'queued')) return
    this.#move(job, 'queued')
  }

  #place(change: ChangeOf<'placed'>): void {
    const { job, epoch, attempt } = change
    const life = this.#life(job, 'queued')
    if (life === null) return
    if (attempt <= life.attempt)
      this.#complain(
        'b',
        `job ${job} was placed as attempt ${attempt} after attempt ${life.attempt}; numbers only grow`,
      )
    if (this.#epoch !== 0 && epoch !== this.#epoch)
      this.#complain('b', `${nameFence(change)} was placed in epoch ${this.#epoch}`)
    this.#moveLife(job, life, 'active')
    life.attempt = attempt
    life.fence = { job, epoch, attempt }
    life.attemptState = 'leased'
  }

  #moveAttempt(job: number, to: AttemptState): void {
    const life = this.#life(job, 'active')
    if (life === null) return
    const from = life.attemptState
    if (life.state !== 'active')
      this.#complain('a', `the attempt of job ${job} became ${to}, but the job is ${life.state}`)
    else if (from !== to && life.fence !== null && !canMoveAttempt(from, to))
      this.#complain('a', `${nameFence(life.fence)} is ${from} and cannot become ${to}`)
    if (from !== 'stopping') life.attemptState = to
  }

  #end(change: ChangeOf<'attemptEnded'>): void {
    const { job, outcome, next, result } = change
    this.#current(change, outcome)
    if (!NEXT[outcome].includes(next))
      this.#complain('b', `${nameFence(change)} ended ${outcome}, but its job became ${next}`)
    if (result !== undefined && result !== null && !isTerminal(next))
      this.#complain('b', `${nameFence(change)} published a result, but its job became ${next}`)
    this.#move(job, next)
  }

  /** Its number is never given again, so its end stays known. */
  #forget(seq: number, state: JobState): void {
    const known = this.stateOf(seq)
    if (known === null ? this.#isWhole : known !== state)
      this.#complain('a', `job ${seq} was forgotten as ${state}, but it is ${known ?? 'unknown'}`)
  }

  #resume(change: ChangeOf<'resumed'>): void {
    const life = this.#life(change.job, 'queued')
    if (life === null) return
    if (life.fence !== null && !sameFence(life.fence, change))
      this.#complain('b', `${nameFence(change)} was resumed after ${nameFence(life.fence)} had been placed`)
    this.#move(change.job, 'active')
    life.fence = { job: change.job, epoch: change.epoch, attempt: change.attempt }
    life.attempt = change.attempt
    life.attemptState = 'starting'
  }

  /** Only the newest placement speaks for its job. */
  #current(fence: Fence, what: string): void {
    const life = this.#life(fence.job, 'active')
    if (life === null || life.fence === null) return
    if (!sameFence(life.fence, fence) || life.state !== 'active')
      this.#complain(
        'b',
        `${nameFence(fence)} is told ${what}, but the job is ${life.state} with ${nameFence(life.fence)} as its last`,
      )
    life.attemptState = 'ended'
  }

  #move(job: number, to: JobState): void {
    const life = this.#life(job, to === 'active' ? 'queued' : 'active')
    if (life !== null) this.#moveLife(job, life, to)
  }

  #moveLife(job: number, life: JobLife, to: JobState): void {
    try {
      moveJob(life.state, to)
    } catch {
      this.#complain('a', `job ${job} is ${life.state} and cannot become ${to}`)
    }
    if (isTerminal(to)) this.#jobs.set(job, to)
    else life.state = to
  }

  #life(job: number, believed: JobState): JobLife | null {
    const life = this.#jobs.get(job)
    if (typeof life === 'object') return life
    if (typeof life === 'string') {
      this.#complain('a', `job ${job} has ended as ${life}, but a later change speaks of it as ${believed}`)
      return null
    }
    if (this.#isWhole) {
      this.#complain('a', `a change speaks of job ${job}, which was never submitted`)
      return null
    }
    const met: JobLife = { state: believed, attempt: 0, fence: null, attemptState: 'leased' }
    this.#jobs.set(job, met)
    return met
  }
}
