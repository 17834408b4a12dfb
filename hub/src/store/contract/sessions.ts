import { afterEach, beforeEach, expect, it } from 'vitest'
import type { SessionFilter, Store } from '../port.ts'
import { type OpenStore, recovered, type StoreUnderTest } from './harness.ts'
import { A_SESSION, aJob, idOf, insertJob, rowsOnly } from './sample-rows.ts'

const ANY: SessionFilter = { owner: null, preset: null, ended: null }

/** Sessions beside their jobs. */
export function sessionsContract(open: OpenStore): void {
  let tested: StoreUnderTest
  let store: Store
  beforeEach(async () => {
    tested = await open()
    store = tested.store
    const kinds = [
      { owner: 'ada', preset: null, endedAt: null },
      { owner: 'bob', preset: 'a/b', endedAt: null },
      { owner: 'ada', preset: 'a/b', endedAt: 7 },
      { owner: 'ada', preset: 'a/b', endedAt: null },
    ]
    const rows = kinds.map((kind, index) => ({ ...A_SESSION, ...kind, job: index + 1, id: idOf(index + 1) }))
    await store.append(rowsOnly(...rows.map(row => ({ op: 'put', table: 'session', row }) as const)))
  })
  afterEach(() => tested.end())

  it('pages sessions from the newest on, by owner, preset and whether they have ended', async () => {
    const jobs = async (filter: Partial<SessionFilter>, before: number | null = null, limit = 10) => {
      const { rows, next } = await store.queries.sessions({ ...ANY, ...filter }, before, limit)
      return [rows.map(({ job }) => job), next]
    }
    expect(await jobs({})).toEqual([[4, 3, 2, 1], null])
    expect(await jobs({}, null, 3)).toEqual([[4, 3, 2], 2])
    expect(await jobs({}, 2, 3)).toEqual([[1], null])
    expect(await jobs({ owner: 'ada', preset: 'a/b' })).toEqual([[4, 3], null])
    expect(await jobs({ ended: true })).toEqual([[3], null])
    expect(await jobs({ ended: false, owner: 'ada' })).toEqual([[4, 1], null])
  })

  it('recovers those that live, with how they are to end, and knows which session a task was given to', async () => {
    await store.append(
      rowsOnly(
        insertJob(aJob(9, { session: 4 })),
        { op: 'update', table: 'session', key: { job: 4 }, set: { endsBy: 'evicted' } },
        { op: 'update', table: 'session', key: { job: 2 }, set: { endedAt: 8 } },
        { op: 'delete', table: 'session', key: { job: 3 } },
      ),
    )
    const again = await tested.reopen()
    expect((await recovered(again)).sessions.map(({ job, endsBy }) => [job, endsBy])).toEqual([
      [1, 'manual'],
      [4, 'evicted'],
    ])
    expect((await again.queries.jobById(idOf(9)))?.session).toBe(4)
  })
}
