import type { Change } from '@stoker/protocol'
import type { ConsumerContext } from './context.ts'

/** Looked at once, newest first: enough to tell a good worker from a bad one. */
const MOST_PAST_JOBS = 20_000
const PAGE = 1000

export interface Tally {
  readonly completed: number
  readonly failed: number
}

type Ports = Pick<ConsumerContext, 'engine' | 'queries' | 'now'>

/** How many attempts ended well and ill on each worker: of the newest past jobs, and of all since the start. */
export class WorkerTally {
  readonly #ports: Ports
  readonly #since: number
  readonly #counts = new Map<string, { completed: number; failed: number }>()
  /** Where each active job was placed last. */
  readonly #places = new Map<number, string>()
  readonly #leave: () => void
  #past: Promise<void> | null = null

  private constructor(ports: Ports) {
    this.#ports = ports
    this.#since = ports.now()
    this.#leave = ports.engine.onCommit(({ changes }) => {
      for (const change of changes) this.#hear(change)
    })
  }

  static async open(ports: Ports): Promise<WorkerTally> {
    const tally = new WorkerTally(ports)
    const active = await ports.engine.read(state => [...state.active.values()].map(({ claim }) => claim))
    for (const { job, worker } of active) if (!tally.#places.has(job)) tally.#places.set(job, worker)
    return tally
  }

  async of(worker: string): Promise<Tally> {
    this.#past ??= this.#countPast()
    await this.#past
    return this.#counts.get(worker) ?? { completed: 0, failed: 0 }
  }

  close(): void {
    this.#leave()
  }

  #hear(change: Change): void {
    if (change.c === 'placed') this.#places.set(change.job, change.worker)
    else if (change.c === 'ended') this.#places.delete(change.job)
    else if (change.c === 'attemptEnded') {
      const worker = this.#places.get(change.job)
      this.#places.delete(change.job)
      if (worker !== undefined) this.#count(worker, change.outcome)
    }
  }

  async #countPast(): Promise<void> {
    const filter = { owner: null, states: null, type: null, worker: null, name: null, labels: [] }
    let before: number | null = null
    for (let looked = 0; looked < MOST_PAST_JOBS; looked += PAGE) {
      const { rows, next } = await this.#ports.queries.page(filter, before, PAGE)
      for (const { worker, outcome, endedAt } of rows)
        if (worker !== null && outcome !== null && endedAt !== null && endedAt < this.#since)
          this.#count(worker, outcome)
      if (next === null) return
      before = next
    }
  }

  #count(worker: string, outcome: string): void {
    const counts = this.#counts.get(worker) ?? { completed: 0, failed: 0 }
    if (outcome === 'completed') counts.completed += 1
    else if (outcome === 'failed' || outcome === 'timed_out') counts.failed += 1
    this.#counts.set(worker, counts)
  }
}
