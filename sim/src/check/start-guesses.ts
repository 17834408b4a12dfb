import type { Batch } from '../../../hub/src/engine/core.ts'
import type { Now, State } from '../../../hub/src/engine/state.ts'
import { explainJob } from '../../../hub/src/scheduler/explain/explain-job.ts'
import type { Policy } from '../../../hub/src/scheduler/policy.ts'
import type { Random } from '../world/random.ts'

/** How good predicted starts were; shares are of those with a prediction. */
export interface GuessFigures {
  readonly asked: number
  readonly answered: number
  /** Started by the predicted middle, and by the late end. */
  readonly byP50: number
  readonly byP90: number
}

interface Guess {
  readonly p50: number
  readonly p90: number
}

/** Asks when queued jobs will start, and remembers until they do. */
export class StartGuesses {
  readonly #policy: Policy
  readonly #random: Random
  readonly #open = new Map<number, Guess[]>()
  #asked = 0
  #answered = 0
  #byP50 = 0
  #byP90 = 0

  constructor(policy: Policy, random: Random) {
    this.#policy = policy
    this.#random = random
  }

  /** About one job of the queue. */
  ask(state: State, now: Now): void {
    const buckets = [...state.queued.buckets()]
    if (buckets.length === 0) return
    const bucket = this.#random.pick(buckets)
    const job = [...state.queued.walk(bucket)][this.#random.int(state.queued.sizeOf(bucket))] ?? 0
    const start = explainJob(state, this.#policy, job, now)?.start
    this.#asked += 1
    if (start?.p50 == null || start.p90 === null) return
    this.#open.set(job, [...(this.#open.get(job) ?? []), { p50: start.p50, p90: start.p90 }])
  }

  take({ changes }: Batch): void {
    for (const change of changes) {
      if (change.c !== 'placed') continue
      for (const { p50, p90 } of this.#open.get(change.job) ?? []) {
        if (change.at <= p50) this.#byP50 += 1
        if (change.at <= p90) this.#byP90 += 1
        this.#answered += 1
      }
      this.#open.delete(change.job)
    }
  }

  get figures(): GuessFigures {
    const share = (count: number): number => (this.#answered === 0 ? 0 : count / this.#answered)
    return {
      asked: this.#asked,
      answered: this.#answered,
      byP50: share(this.#byP50),
      byP90: share(this.#byP90),
    }
  }
}
