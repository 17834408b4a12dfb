import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Store } from '../port.ts'
import type { OpenStore, StoreUnderTest } from './harness.ts'
import { aJob, insertJob, journaled, rowsOnly } from './sample-rows.ts'

/** The journal has no holes, and what is forgotten leaves its hash. */
export function journalContract(open: OpenStore): void {
  let tested: StoreUnderTest
  let store: Store
  beforeEach(async () => {
    tested = await open()
    store = tested.store
  })
  afterEach(() => tested.end())

  async function appendTo(last: number): Promise<void> {
    for (let n = 1; n <= last; n++) await store.append(journaled(n))
  }

  it('reads rows after a cursor, in order and limited', async () => {
    await appendTo(5)
    expect(await store.queries.journalAfter(2, 2)).toEqual([journaled(3).journal, journaled(4).journal])
    expect(await store.queries.journalAfter(5, 2)).toEqual([])
    expect(await store.queries.journalFloor()).toEqual({ n: 1, hash: 'hash-1' })
    expect(await store.queries.journalBoundary()).toEqual({ n: 0, hash: '' })
    expect(await store.journalEnd()).toEqual({ n: 5, hash: 'hash-5' })
  })

  it('refuses a journal row that does not follow the last one, with all its rows', async () => {
    await appendTo(2)
    for (const n of [2, 4]) {
      const wrong = store.append(journaled(n, [insertJob(aJob(1))]))
      await expect(wrong).rejects.toThrow(`journal row ${n} does not follow the last row 2`)
    }
    expect(await store.queries.jobsBySeq([1])).toEqual([])
  })

  it('forgets old rows and keys but knows where the journal was cut', async () => {
    await appendTo(5)
    const key = { owner: 'ada', hash: 'h', firstSeq: 1, count: 1 }
    await store.append(rowsOnly({ op: 'insert', table: 'idempotency', row: { ...key, key: 'old', at: 10 } }))
    await store.append(rowsOnly({ op: 'insert', table: 'idempotency', row: { ...key, key: 'new', at: 20 } }))
    await store.prune({ keysBefore: 20, journalBefore: 40 })
    expect(await store.queries.journalFloor()).toEqual({ n: 4, hash: 'hash-4' })
    expect(await store.queries.journalBoundary()).toEqual({ n: 3, hash: 'hash-3' })
    expect((await store.queries.journalAfter(0, 10)).map(row => row.n)).toEqual([4, 5])
    expect((await store.queries.journalAfter(4, 10)).map(row => row.n)).toEqual([5])
    expect(await store.idempotency('ada', 'old')).toBeNull()
    expect(await store.idempotency('ada', 'new')).not.toBeNull()
  })

  it('goes on after everything was forgotten, also after a restart', async () => {
    await appendTo(3)
    await store.prune({ keysBefore: 0, journalBefore: 1_000 })
    expect(await store.queries.journalFloor()).toBeNull()
    const again = await tested.reopen()
    expect(await again.journalEnd()).toEqual({ n: 3, hash: 'hash-3' })
    await again.append(journaled(4))
    expect(await again.queries.journalFloor()).toEqual({ n: 4, hash: 'hash-4' })
  })

  it('forgets no row behind a younger one, though a clock went back', async () => {
    await store.append(journaled(1, [], 10))
    await store.append(journaled(2, [], 50))
    await store.append(journaled(3, [], 20))
    await store.prune({ keysBefore: 0, journalBefore: 40 })
    expect((await store.queries.journalAfter(0, 10)).map(row => row.n)).toEqual([2, 3])
  })

  it('forgets thousands of rows in one call', async () => {
    await Promise.all(Array.from({ length: 1_500 }, (_, index) => store.append(journaled(index + 1))))
    await store.prune({ keysBefore: 0, journalBefore: 14_995 })
    expect((await store.queries.journalAfter(0, 10)).map(row => row.n)).toEqual([1_500])
  })
}
