import type { Batch } from '../../../engine/core.ts'
import type { Page } from '../../../store/port.ts'
import type { ConsumerContext } from './context.ts'

const PER_PAGE = 100
const MOST_PAGES = 50
const SUCCEEDED = { owner: null, states: ['succeeded'], type: null, worker: null, name: null, labels: [] } as const

/** How many jobs each worker has completed, of the newest thousands and of all since someone first asked. Listens to the hub only from then on. */
export class JobTally {
  readonly #context: Pick<ConsumerContext, 'engine' | 'queries'>
  readonly #byWorker = new Map<string, number>()
  /** Who has each job that runs. */
  readonly #workers = new Map<number, string>()
  /** Jobs that were counted while history was read. */
  #counted: Set<number> | null = new Set()
  #ready: Promise<void> | null = null
  #stop: () => void = () => {}

  constructor(context: Pick<ConsumerContext, 'engine' | 'queries'>) {
    this.#context = context
  }

  async counts(): Promise<ReadonlyMap<string, number>> {
    this.#ready ??= this.#begin()
    await this.#ready
    return this.#byWorker
  }

  close(): void {
    this.#stop()
  }

  async #begin(): Promise<void> {
    const { engine } = this.#context
    this.#stop = engine.onCommit(batch => this.#hear(batch))
    await engine.read(({ active }) => {
      for (const { seq, claim } of active.values()) this.#workers.set(seq, claim.worker)
    })
    await this.#recall()
    this.#counted = null
  }

  async #recall(): Promise<void> {
    let before: number | null = null
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const { rows, next }: Page = await this.#context.queries.page(SUCCEEDED, before, PER_PAGE)
      for (const { seq, worker } of rows) if (worker !== null && !this.#counted?.has(seq)) this.#count(worker)
      if (next === null) return
      before = next
    }
  }

  #hear({ changes }: Batch): void {
    for (const change of changes) {
      if (change.c === 'placed') this.#workers.set(change.job, change.worker)
      else if (change.c === 'ended') this.#workers.delete(change.job)
      else if (change.c === 'workerRemoved') this.#byWorker.delete(change.id)
      else if (change.c === 'attemptEnded') {
        const worker = this.#workers.get(change.job)
        this.#workers.delete(change.job)
        if (worker === undefined || change.next !== 'succeeded') continue
        this.#counted?.add(change.job)
        this.#count(worker)
      }
    }
  }

  #count(worker: string): void {
    this.#byWorker.set(worker, (this.#byWorker.get(worker) ?? 0) + 1)
  }
}
