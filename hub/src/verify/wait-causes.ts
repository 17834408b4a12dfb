import { type Change, type ChangeOf, type DependencyKind, isTerminal, type JobState } from '@stoker/protocol'
import { isMetBy } from '../engine/edges.ts'
import type { Complain } from './problems.ts'

/** Follows why each job waits, by the changes alone: what a job waits for must happen, as asked, before the job is placed. */
export class WaitCauses {
  readonly #needs = new Map<number, Map<number, DependencyKind>>()
  readonly #held = new Set<number>()
  readonly #backoffs = new Set<number>()
  readonly #complain: Complain
  readonly #isWhole: boolean
  readonly #stateOf: (seq: number) => JobState | null

  constructor(complain: Complain, isWhole: boolean, stateOf: (seq: number) => JobState | null) {
    this.#complain = complain
    this.#isWhole = isWhole
    this.#stateOf = stateOf
  }

  has(job: number): boolean {
    return this.#needs.has(job) || this.#held.has(job) || this.#backoffs.has(job)
  }

  take(change: Change): void {
    switch (change.c) {
      case 'submitted':
        for (const job of change.jobs) this.#submit(job)
        break
      case 'met':
        this.#meet(change, this.#stateOf(change.dependency))
        break
      case 'held':
        this.#held.add(change.job)
        break
      case 'holdLifted':
        if (!this.#held.delete(change.job) && this.#isWhole)
          this.#complain('a', `the hold of job ${change.job} was lifted, but nobody held it`)
        break
      case 'due':
        this.#backoffs.delete(change.job)
        break
      case 'placed':
        if (this.has(change.job)) this.#complain('a', `job ${change.job} was placed, but it ${this.#told(change.job)}`)
        break
      case 'attemptEnded':
        if (change.next === 'waiting') this.#backoffs.add(change.job)
        break
      case 'ended':
        this.#forget(change.job)
        break
      default:
    }
  }

  #submit({ seq, dependsOn = [], heldBy }: ChangeOf<'submitted'>['jobs'][number]): void {
    if (dependsOn.length > 0) this.#needs.set(seq, new Map(dependsOn.map(edge => [edge.seq, edge.on])))
    if (heldBy !== undefined) this.#held.add(seq)
  }

  #meet({ job, dependency }: ChangeOf<'met'>, end: JobState | null): void {
    const needs = this.#needs.get(job)
    const kind = needs?.get(dependency)
    if (needs === undefined || kind === undefined) {
      if (this.#isWhole) this.#complain('a', `job ${job} is told that job ${dependency} ended, but did not wait for it`)
      return
    }
    if (end !== null && !(isTerminal(end) && isMetBy(kind, end)))
      this.#complain('a', `job ${job} needs the ${kind} of job ${dependency}, which counts as met while it is ${end}`)
    needs.delete(dependency)
    if (needs.size === 0) this.#needs.delete(job)
  }

  #forget(job: number): void {
    this.#needs.delete(job)
    this.#held.delete(job)
    this.#backoffs.delete(job)
  }

  #told(job: number): string {
    const [first] = this.#needs.get(job) ?? []
    if (first !== undefined) return `waits for the ${first[1]} of job ${first[0]}`
    return this.#held.has(job) ? 'is held' : 'waits for the end of its backoff'
  }
}
