import type { JobFilter, LiveJob, Recovery, Store } from '../port.ts'

/** A store under test: `reopen` closes it and opens the same data again, `end` leaves nothing behind. */
export interface StoreUnderTest {
  readonly store: Store
  reopen(): Promise<Store>
  end(): Promise<void>
}
export type OpenStore = () => Promise<StoreUnderTest>

/** Everything recovery tells, live jobs in one list. */
export async function recovered(store: Store): Promise<{ readonly live: readonly LiveJob[] } & Recovery> {
  const live: LiveJob[] = []
  const recovery = await store.recover(jobs => void live.push(...jobs))
  return { live, ...recovery }
}

/** The seqs of every page of a list, until it says that it has ended. */
export async function allPages(
  store: Store,
  filter: JobFilter,
  limit: number,
  from: number | null = null,
): Promise<readonly (readonly number[])[]> {
  const pages: number[][] = []
  for (let before = from; ; ) {
    const { rows, next } = await store.queries.page(filter, before, limit)
    pages.push(rows.map(job => job.seq))
    if (next === null) return pages
    if (before !== null && next >= before) throw new Error(`the page before ${before} goes on before ${next}`)
    before = next
  }
}
