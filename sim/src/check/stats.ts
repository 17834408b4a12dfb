import { fenceKey, isTerminal } from '@stoker/protocol'
import type { Batch } from '../../../hub/src/engine/core.ts'

export interface RunFigures {
  readonly jobs: number
  readonly attempts: number
  readonly succeeded: number
  readonly lost: number
  readonly waitMsP50: number
  readonly waitMsP99: number
  /** Claimed share of all slots while there was work. */
  readonly utilisation: number
}

/** What a run was like, in virtual time: how long jobs waited for their first attempt, how full the workers were. */
export class Stats {
  /** By job; undefined from its first attempt on. */
  readonly #submittedAt: (number | undefined)[] = []
  readonly #heldSince = new Map<string, number>()
  readonly #waits: number[] = []
  #slotMs = 0
  #jobs = 0
  #attempts = 0
  #succeeded = 0
  #lost = 0
  #lastEndAt = 0
  #lastDoneAt = 0

  /** When a job came to its end last. */
  get lastDoneAt(): number {
    return this.#lastDoneAt
  }

  take({ changes }: Batch, now: number): void {
    for (const change of changes) {
      switch (change.c) {
        case 'submitted':
          this.#jobs += change.jobs.length
          for (const { seq } of change.jobs) this.#submittedAt[seq] = now
          break
        case 'placed':
          this.#attempts += 1
          this.#wait(change.job, now)
          this.#heldSince.set(fenceKey(change), now)
          break
        case 'lost':
          this.#lost += 1
          break
        case 'released':
        case 'attemptEnded':
          this.#free(fenceKey(change), now)
          if (change.c === 'attemptEnded' && change.next === 'succeeded') this.#succeeded += 1
          if (change.c === 'attemptEnded' && isTerminal(change.next)) this.#lastDoneAt = now
          break
        default:
      }
    }
  }

  figures(slots: number): RunFigures {
    const waits = Float64Array.from(this.#waits).sort()
    const at = (share: number) => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? 0
    return {
      jobs: this.#jobs,
      attempts: this.#attempts,
      succeeded: this.#succeeded,
      lost: this.#lost,
      waitMsP50: at(0.5),
      waitMsP99: at(0.99),
      utilisation: this.#lastEndAt === 0 ? 0 : this.#slotMs / (this.#lastEndAt * slots),
    }
  }

  #wait(job: number, now: number): void {
    const at = this.#submittedAt[job]
    if (at === undefined) return
    this.#waits.push(now - at)
    this.#submittedAt[job] = undefined
  }

  #free(attempt: string, now: number): void {
    const since = this.#heldSince.get(attempt)
    if (since === undefined) return
    this.#heldSince.delete(attempt)
    this.#slotMs += now - since
    this.#lastEndAt = now
  }
}
