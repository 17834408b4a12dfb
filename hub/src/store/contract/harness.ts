import type { LiveJob, Recovery, Store } from '../port.ts'

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
