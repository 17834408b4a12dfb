import { JobSpec } from '@stoker/protocol'
import type { RunTimeBook } from './engine/run-times.ts'
import { shapeOf, termsOf } from './engine/shape-of.ts'
import type { Page, Queries } from './store/port.ts'

/** So few at once that nobody waits for their specs to be read. */
const PER_PAGE = 100
const MOST_PAGES = 50
const ENDED = { owner: null, type: null, worker: null, name: null, labels: [] } as const

/** Tells the book how long the last ended jobs took, while the hub is at work already; gives up once there is no book. */
export async function recallRuns(queries: Pick<Queries, 'page'>, bookNow: () => RunTimeBook | null): Promise<void> {
  let before: number | null = null
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const filter = { ...ENDED, states: ['succeeded', 'failed', 'timed_out'] as const }
    const { rows, next }: Page = await queries.page(filter, before, PER_PAGE)
    const book = bookNow()
    if (book === null) return
    for (const { owner, spec, placedAt, attemptEndedAt } of rows) {
      const known = JobSpec.safeParse(JSON.parse(spec))
      if (placedAt === null || attemptEndedAt === null || !known.success) continue
      book.add({ owner, shape: shapeOf(known.data), terms: termsOf(known.data) }, attemptEndedAt - placedAt)
    }
    if (next === null) return
    before = next
  }
}
