import type { RowWrite } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Store } from '../port.ts'
import { allPages, type OpenStore, recovered, type StoreUnderTest } from './harness.ts'
import { ANY } from './queries.ts'
import { A_SCHEDULE, aGroup, aJob, insertJob, rowsOnly } from './sample-rows.ts'

const insertGroup = (row: ReturnType<typeof aGroup>): RowWrite => ({ op: 'insert', table: 'jobGroup', row })

/** Groups, owners' limits and schedules. */
export function groupsContract(open: OpenStore): void {
  let tested: StoreUnderTest
  let store: Store
  beforeEach(async () => {
    tested = await open()
    store = tested.store
  })
  afterEach(() => tested.end())

  it('gives back groups exactly, and recovers those that have not ended', async () => {
    const live = aGroup(1, { maxParallel: 3 })
    const ended = aGroup(5, { queued: 0, succeeded: 2, endedAt: 9, retryOf: live.id })
    await store.append(rowsOnly(insertGroup(live), insertGroup(ended)))
    const set = { queued: 1, active: 1 }
    await store.append(rowsOnly({ op: 'update', table: 'jobGroup', key: { id: live.id }, set }))
    const again = await tested.reopen()
    expect((await recovered(again)).groups).toEqual([{ ...live, ...set }])
    expect(await again.queries.groupById(ended.id)).toEqual(ended)
    expect(await again.queries.groupById('nothing')).toBeNull()
  })

  it('pages groups from the newest on, of one owner or of all', async () => {
    const groups = [1, 3, 5, 7].map(seq => aGroup(seq, { owner: seq === 3 ? 'bob' : 'ada' }))
    await store.append(rowsOnly(...groups.map(insertGroup)))
    const seqs = async (owner: string | null, before: number | null) => {
      const { rows, next } = await store.queries.groups(owner, before, 2)
      return [rows.map(row => row.firstSeq), next]
    }
    expect(await seqs(null, null)).toEqual([[7, 5], 5])
    expect(await seqs(null, 5)).toEqual([[3, 1], null])
    expect(await seqs('ada', null)).toEqual([[7, 5], 5])
    expect(await seqs('bob', null)).toEqual([[3], null])
  })

  it('tells groups that ended long ago and have no job left, a bounded look at a time', async () => {
    const ended = { endedAt: 10 }
    const groups = [
      aGroup(1, ended),
      aGroup(3),
      aGroup(5, { endedAt: 20 }),
      aGroup(7, ended),
      aGroup(9, ended),
      aGroup(11, { submittedAt: 15, endedAt: 16 }),
    ]
    await store.append(rowsOnly(...groups.map(insertGroup), insertJob(aJob(8))))
    const look = async (before: number, after: number, many: number) => {
      const { ids, next } = await store.queries.emptyGroups(before, after, many)
      return [ids.map(id => groups.find(group => group.id === id)?.firstSeq), next]
    }
    expect(await look(15, -1, 100)).toEqual([[1, 9], null])
    expect(await look(10, -1, 100)).toEqual([[], null])
    expect(await look(15, -1, 2)).toEqual([[1], 3])
    expect(await look(15, 3, 3)).toEqual([[9], 9])
    expect(await look(15, 9, 3)).toEqual([[], null])
    expect(await look(30, -1, 100)).toEqual([[1, 5, 9, 11], null])
  })

  it('finds the one group whose id ends with the digits', async () => {
    const ids = ['01890000-0000-7000-8000-aaaabbbbcccc', '01890000-0000-7000-8000-1111bbbbcccc']
    await store.append(rowsOnly(...ids.map((id, index) => insertGroup(aGroup(index, { id })))))
    const ask = store.queries.groupByIdEnd
    expect([await ask('cccc'), await ask('ccc'), await ask('AAAABBBBCCCC')]).toEqual(['many', 'many', ids[0]])
    expect([await ask('dddd'), await ask('not hex')]).toEqual([null, null])
  })

  it('pages the jobs of a range of seqs only', async () => {
    const jobs = Array.from({ length: 20 }, (_, index) => aJob(index + 1, { state: index % 2 ? 'failed' : 'queued' }))
    await store.append(rowsOnly(...jobs.map(insertJob)))
    const seqs = { from: 5, to: 12 }
    expect(await allPages(store, { ...ANY, seqs }, 3)).toEqual([[11, 10, 9], [8, 7, 6], [5]])
    expect(await allPages(store, { ...ANY, seqs, states: ['failed'] }, 10)).toEqual([[10, 8, 6]])
  })

  it('gives back limits and schedules, with every column they can have', async () => {
    const limits = { owner: 'ada', queued: 1, running: null, gpus: 0, bytes: 10 ** 12 }
    const last = {
      lastAt: 3,
      lastOutcome: 'submitted',
      lastReason: 'r',
      lastSeq: 4,
      lastJob: 'j',
      lastGroup: 'g',
    } as const
    await store.append(
      rowsOnly(
        { op: 'put', table: 'ownerLimits', row: limits },
        { op: 'put', table: 'ownerLimits', row: { ...limits, owner: 'bob' } },
        { op: 'insert', table: 'schedule', row: A_SCHEDULE },
        { op: 'insert', table: 'schedule', row: { ...A_SCHEDULE, id: 's2' } },
      ),
    )
    await store.append(
      rowsOnly(
        { op: 'delete', table: 'ownerLimits', key: { owner: 'bob' } },
        { op: 'update', table: 'schedule', key: { id: 's1' }, set: last },
        { op: 'delete', table: 'schedule', key: { id: 's2' } },
      ),
    )
    const again = await tested.reopen()
    expect(await recovered(again)).toMatchObject({ limits: [limits], schedules: [{ ...A_SCHEDULE, ...last }] })
    expect(await again.queries.schedule('s1')).toEqual({ ...A_SCHEDULE, ...last })
    expect(await again.queries.schedule('s2')).toBeNull()
  })
}
