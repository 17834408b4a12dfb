import { afterEach, beforeEach, expect, it } from 'vitest'
import { MOST_LOOKED_AT } from '../page-bounds.ts'
import type { JobFilter, Store } from '../port.ts'
import { allPages, type OpenStore, type StoreUnderTest } from './harness.ts'
import {
  A_SECRET,
  aChunk,
  aDelivery,
  aJob,
  anAttempt,
  anEntry,
  idOf,
  insertJob,
  RUNNING,
  rowsOnly,
} from './sample-rows.ts'

export const ANY: JobFilter = { owner: null, states: null, type: null, worker: null, name: null, labels: [] }

/** What the reads answer. */
export function queriesContract(open: OpenStore): void {
  let tested: StoreUnderTest
  let store: Store
  beforeEach(async () => {
    tested = await open()
    store = tested.store
  })
  afterEach(() => tested.end())

  it('answers by seq in the order asked, few or many, and leaves missing ones out', async () => {
    await store.append(rowsOnly(...Array.from({ length: 100 }, (_, index) => insertJob(aJob(index + 1)))))
    const { queries } = store
    expect((await queries.jobsBySeq([3, 999, 1])).map(job => job.seq)).toEqual([3, 1])
    expect(await queries.offers([2, 1])).toEqual([2, 1].map(seq => ({ seq, id: idOf(seq), spec: `{"seq":${seq}}` })))
    const many = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect((await queries.jobsBySeq(many)).map(job => job.seq)).toEqual(many)
    expect((await queries.offers(many)).map(job => job.seq)).toEqual(many)
    expect(await queries.jobById('nothing')).toBeNull()
  })

  it('pages from the newest job to the oldest without gaps', async () => {
    await store.append(rowsOnly(...Array.from({ length: 25 }, (_, index) => insertJob(aJob(index + 1)))))
    const pages = await allPages(store, ANY, 10)
    expect(pages.map(page => page.length)).toEqual([10, 10, 5])
    expect(pages.flat()).toEqual(Array.from({ length: 25 }, (_, index) => 25 - index))
    expect(await store.queries.page({ ...ANY, states: [] }, null, 10)).toEqual({ rows: [], next: null })
  })

  it('ends a list with its last job, not with an empty page', async () => {
    await store.append(rowsOnly(...Array.from({ length: 20 }, (_, index) => insertJob(aJob(index + 1)))))
    expect((await allPages(store, ANY, 10)).map(page => page.length)).toEqual([10, 10])
  })

  it.each<[string, Partial<JobFilter>]>([
    ['all jobs', {}],
    ['an owner', { owner: 'ada' }],
    ['states', { states: ['queued', 'failed'] }],
    ['a label', { labels: [{ key: 'team', value: 'vision' }] }],
  ])('looks at a bounded number of jobs for a page of a rare name among %s, and finds it in the end', async (_, by) => {
    const count = 2 * MOST_LOOKED_AT + 10
    const rows = Array.from({ length: count }, (_, index) => index + 1).flatMap(seq => [
      insertJob(aJob(seq, { name: seq === 7 ? 'rare' : 'train', state: seq % 2 === 0 ? 'queued' : 'failed' })),
      { op: 'insert', table: 'label', row: { key: 'team', value: 'vision', job: seq } } as const,
    ])
    await store.append(rowsOnly(...rows))
    const first = await store.queries.page({ ...ANY, ...by, name: 'rare' }, null, 10)
    expect(first).toEqual({ rows: [], next: count - MOST_LOOKED_AT + 1 })
    expect(await allPages(store, { ...ANY, ...by, name: 'rare' }, 10)).toEqual([[], [], [7]])
  })

  it('lists what is to be told to a webhook, due first, and what was told, newest job first', async () => {
    const rows = [aDelivery('h1', 1, { dueAt: 50 }), aDelivery('h1', 2, { dueAt: null, state: 'delivered' })]
    const more = [aDelivery('h1', 3, { dueAt: 40 }), aDelivery('h2', 4), aDelivery('h1', 5, { dueAt: 50 })]
    await store.append(rowsOnly(...[...rows, ...more].map(row => ({ op: 'put', table: 'delivery', row }) as const)))
    const jobs = (found: readonly { readonly job: number }[]) => found.map(({ job }) => job)
    expect(jobs(await store.queries.pendingDeliveries('h1', 10))).toEqual([3, 1, 5])
    expect(await store.queries.pendingDeliveries('h1', 1)).toEqual([more[0]])
    expect(jobs(await store.queries.deliveries('h1', null, 3))).toEqual([5, 3, 2])
    expect(jobs(await store.queries.deliveries('h1', 2, 3))).toEqual([1])
    expect(await store.queries.pendingDeliveries('none', 3)).toEqual([])
  })

  it('finds the one job whose id ends with the digits, however many are given', async () => {
    const ids = ['01890000-0000-7000-8000-aaaabbbbcccc', '01890000-0000-7000-8000-1111bbbbcccc']
    await store.append(rowsOnly(...ids.map((id, index) => insertJob(aJob(1 + index * 9_000, { id })))))
    const ask = store.queries.jobByIdEnd
    expect(await ask('cccc')).toBe('many')
    expect(await ask('bbbbcccc')).toBe('many')
    expect(await ask('1bbbbcccc')).toBe(ids[1])
    expect(await ask('AAAABBBBCCCC')).toBe(ids[0])
    expect(await ask('8000aaaabbbbcccc')).toBe(ids[0])
    expect(await ask('7000-8000-1111bbbbcccc')).toBe(ids[1])
    expect(await ask(ids[0] ?? '')).toBe(ids[0])
    expect(await ask('dddd')).toBeNull()
    expect(await ask('not hex')).toBeNull()
    expect(await ask('ccc')).toBe('many')
  })

  it('lists attempts, chunks and the sealed file of an attempt in order', async () => {
    const sealed = { job: 1, epoch: 1, attempt: 1, pack: 2, position: 3, length: 4 }
    await store.append(
      rowsOnly(
        { op: 'insert', table: 'attempt', row: anAttempt(1, 2) },
        { op: 'insert', table: 'attempt', row: anAttempt(1, 1) },
        { op: 'insert', table: 'chunk', row: aChunk(1, 200) },
        { op: 'insert', table: 'chunk', row: aChunk(1, 30) },
        { op: 'insert', table: 'chunk', row: aChunk(1, 5, { stream: 2 }) },
        { op: 'insert', table: 'chunk', row: aChunk(1, 7, { attempt: 2 }) },
        { op: 'insert', table: 'sealed', row: sealed },
      ),
    )
    const { queries } = store
    expect((await queries.attemptsOf(1)).map(attempt => attempt.number)).toEqual([1, 2])
    expect((await queries.chunks(1, 1, 1)).map(chunk => chunk.offset)).toEqual([30, 200, 5])
    expect(await queries.sealed(1, 1, 1)).toEqual(sealed)
    expect(await queries.sealed(1, 1, 2)).toBeNull()
    expect(await queries.hasOutput(1, 1, 2)).toBe(true)
    expect(await queries.hasOutput(1, 2, 1)).toBe(false)
  })

  it('tells of the attempts in a segment which have ended: neither current nor claiming', async () => {
    await store.append(
      rowsOnly(
        insertJob(aJob(1, RUNNING)),
        insertJob(aJob(2, { ...RUNNING, attemptState: 'ended', state: 'succeeded' })),
        insertJob(aJob(3, { ...RUNNING, attempts: 2 })),
        insertJob(aJob(4, { attempts: 1, attemptEpoch: 1, attemptState: 'ended' })),
        { op: 'insert', table: 'attempt', row: anAttempt(3, 1) },
        { op: 'insert', table: 'attempt', row: anAttempt(4, 1, { claimed: 1 }) },
        ...[1, 2, 3, 4, 5].flatMap(job =>
          [0, 10].map(offset => ({ op: 'insert', table: 'chunk', row: aChunk(job, offset) }) as const),
        ),
        { op: 'insert', table: 'chunk', row: aChunk(6, 0, { segment: 2 }) },
      ),
    )
    const ended = (await store.queries.segmentAttempts(1)).map(({ job, ended }) => [job, ended])
    expect(ended).toEqual([
      [1, false],
      [2, true],
      [3, true],
      [4, false],
      [5, true],
    ])
  })

  it('scans a table in slices that never split a job', async () => {
    await store.append(
      rowsOnly(
        ...[1, 2, 3].flatMap(job =>
          [0, 10, 20].map(offset => ({ op: 'insert', table: 'chunk', row: aChunk(job, offset) }) as const),
        ),
      ),
    )
    const first = await store.queries.scan('chunk', 0, 4)
    expect(first.map(chunk => chunk.job)).toEqual([1, 1, 1, 2, 2, 2])
    expect((await store.queries.scan('chunk', 2, 4)).map(chunk => chunk.job)).toEqual([3, 3, 3])
    expect(await store.queries.scan('chunk', 3, 4)).toEqual([])
    expect(await store.queries.scan('job', 0, 4)).toEqual([])
  })

  it('gives a sealed secret by owner and name, and forgets it when it is deleted', async () => {
    await store.append(rowsOnly({ op: 'put', table: 'secret', row: A_SECRET }))
    expect(await store.queries.secret('ada', 'A')).toEqual(A_SECRET)
    expect(await store.queries.secret('bob', 'A')).toBeNull()
    await store.append(rowsOnly({ op: 'delete', table: 'secret', key: { owner: 'ada', name: 'A' } }))
    expect(await store.queries.secret('ada', 'A')).toBeNull()
  })

  it('lists audit entries newest first, from a place on', async () => {
    const rows = [1, 2, 3].map(n => anEntry(n, { id: `0189-${n}` }))
    await store.append(rowsOnly(...rows.map(row => ({ op: 'insert' as const, table: 'audit' as const, row }))))
    const ids = async (before: string | null, limit: number) =>
      (await store.queries.auditBefore(before, limit)).map(entry => entry.id)
    expect(await ids(null, 2)).toEqual(['0189-3', '0189-2'])
    expect(await ids('0189-2', 2)).toEqual(['0189-1'])
  })
}
