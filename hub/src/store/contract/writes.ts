import { type JobRow, QUEUED_COLUMNS, type RowWrite } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Store } from '../port.ts'
import { type OpenStore, recovered, type StoreUnderTest } from './harness.ts'
import {
  A_BUCKET,
  A_DEVICE,
  A_TOKEN,
  A_WORKER,
  aChunk,
  aJob,
  anAttempt,
  insertJob,
  journaled,
  RUNNING,
  rowsOnly,
} from './sample-rows.ts'

/** What every write does to every table, and that a commit is whole or absent. */
export function writesContract(open: OpenStore): void {
  let tested: StoreUnderTest
  let store: Store
  beforeEach(async () => {
    tested = await open()
    store = tested.store
  })
  afterEach(() => tested.end())

  it('gives back a job row exactly as it was written, after a restart too', async () => {
    const job = aJob(1, { ...RUNNING, usage: '{"s":1.5}', note: 'ünïcode “quotes” 🚂', exitCode: -1 })
    await store.append(rowsOnly(insertJob(job)))
    expect(await store.queries.jobById(job.id)).toEqual(job)
    const again = await tested.reopen()
    expect(await again.queries.jobsBySeq([1])).toEqual([job])
  })

  it.each([5, 40, 300])('gives back %i jobs with different columns exactly, new and changed', async count => {
    const some = (seq: number): Partial<JobRow> => ({
      ...(seq % 40 < 20 ? {} : RUNNING),
      note: seq % 3 === 0 ? `note ${seq}` : null,
      exitCode: seq % 5 === 0 ? seq : null,
      submittedAt: 1_700_000_000_000 + seq,
    })
    const changed = (seq: number): Partial<JobRow> => ({ note: some(seq + 1).note ?? null, result: null, lost: seq })
    const seqs = Array.from({ length: count }, (_, index) => index + 1)
    await store.append(rowsOnly(...seqs.map(seq => insertJob(aJob(seq, some(seq))))))
    expect(await store.queries.scan('job', 0, count)).toEqual(seqs.map(seq => aJob(seq, some(seq))))
    const updates = seqs.map(seq => ({ op: 'update', table: 'job', key: { seq }, set: changed(seq) }) as const)
    await store.append(rowsOnly(...updates))
    const expected = seqs.map(seq => aJob(seq, { ...some(seq), ...changed(seq) }))
    expect(await store.queries.scan('job', 0, count)).toEqual(expected)
  })

  it('updates only the named columns of the named row', async () => {
    await store.append(rowsOnly(insertJob(aJob(1)), insertJob(aJob(2))))
    await store.append(rowsOnly({ op: 'update', table: 'job', key: { seq: 2 }, set: { state: 'failed', reason: 'x' } }))
    expect(await store.queries.jobsBySeq([1, 2])).toEqual([aJob(1), aJob(2, { state: 'failed', reason: 'x' })])
  })

  it('puts a row over the one with its key', async () => {
    const put: RowWrite[] = [
      { op: 'put', table: 'bucket', row: { ...A_BUCKET, priority: 9 } },
      { op: 'put', table: 'worker', row: { ...A_WORKER, batch: 7, draining: 1 } },
      { op: 'put', table: 'token', row: { ...A_TOKEN, usedBy: 'w1' } },
      { op: 'put', table: 'counter', row: { owner: 'ada', state: 'queued', n: 2 } },
      { op: 'put', table: 'meta', row: { key: 'epoch', value: '12' } },
      { op: 'put', table: 'ownerUse', row: { owner: 'ada', average: 2.5, at: 9 } },
      { op: 'put', table: 'device', row: { ...A_DEVICE, reason: 'loud' } },
    ]
    await store.append(
      rowsOnly(
        { op: 'insert', table: 'bucket', row: A_BUCKET },
        { op: 'insert', table: 'worker', row: A_WORKER },
        { op: 'insert', table: 'token', row: A_TOKEN },
        { op: 'insert', table: 'counter', row: { owner: 'ada', state: 'queued', n: 1 } },
        { op: 'insert', table: 'meta', row: { key: 'epoch', value: '11' } },
        { op: 'insert', table: 'ownerUse', row: { owner: 'ada', average: 1, at: 8 } },
        { op: 'insert', table: 'device', row: A_DEVICE },
      ),
    )
    await store.append(rowsOnly(...put, ...put))
    const { buckets, workers, tokens, counters, epoch, ownerUses, devices } = await recovered(await tested.reopen())
    expect(buckets).toEqual([{ ...A_BUCKET, priority: 9 }])
    expect(workers).toEqual([{ ...A_WORKER, batch: 7, draining: 1 }])
    expect(tokens).toEqual([{ ...A_TOKEN, usedBy: 'w1' }])
    expect(counters).toEqual([{ owner: 'ada', state: 'queued', n: 2 }])
    expect(epoch).toBe(12)
    expect(ownerUses).toEqual([{ owner: 'ada', average: 2.5, at: 9 }])
    expect(devices).toEqual([{ ...A_DEVICE, reason: 'loud' }])
  })

  it('deletes by a whole key and by a prefix of it', async () => {
    await store.append(
      rowsOnly(
        ...[0, 10, 20].map((offset): RowWrite => ({ op: 'insert', table: 'chunk', row: aChunk(1, offset) })),
        { op: 'insert', table: 'chunk', row: aChunk(1, 0, { attempt: 2 }) },
        { op: 'insert', table: 'chunk', row: aChunk(2, 0) },
        { op: 'insert', table: 'attempt', row: anAttempt(1, 1) },
        { op: 'insert', table: 'attempt', row: anAttempt(1, 2) },
      ),
    )
    await store.append(
      rowsOnly(
        { op: 'delete', table: 'chunk', key: { job: 1, epoch: 1, attempt: 1 } },
        { op: 'delete', table: 'attempt', key: { job: 1, number: 1 } },
        { op: 'delete', table: 'attempt', key: { job: 9 } },
      ),
    )
    expect(await store.queries.scan('chunk', 0, 10)).toEqual([aChunk(1, 0, { attempt: 2 }), aChunk(2, 0)])
    expect(await store.queries.attemptsOf(1)).toEqual([anAttempt(1, 2)])
  })

  it('keeps a label once however often it is put', async () => {
    const label = { key: 'team', value: 'vision', job: 1 }
    await store.append(rowsOnly(insertJob(aJob(1)), { op: 'insert', table: 'label', row: label }))
    await store.append(rowsOnly({ op: 'put', table: 'label', row: label }))
    await store.append(rowsOnly({ op: 'delete', table: 'label', key: label }))
    const filter = { owner: null, states: null, type: null, worker: null, name: null, labels: [label] }
    expect(await store.queries.page(filter, null, 10)).toEqual({ rows: [], next: null })
  })

  it('writes what the last of several writes to a job in one commit says', async () => {
    const set = (seq: number, set: Partial<JobRow>): RowWrite => ({ op: 'update', table: 'job', key: { seq }, set })
    await store.append(rowsOnly(insertJob(aJob(1)), insertJob(aJob(2, { worker: 'w1', note: 'old' }))))
    await store.append(
      rowsOnly(
        set(2, { state: 'active', note: 'first' }),
        insertJob(aJob(3)),
        set(3, RUNNING),
        set(2, { note: null, reason: 'x' }),
        set(3, { state: 'succeeded', worker: null }),
        { op: 'delete', table: 'job', key: { seq: 1 } },
        insertJob(aJob(1, { name: 'again' })),
        set(1, { lost: 1 }),
        set(3, { lost: 2 }),
      ),
    )
    expect(await store.queries.jobsBySeq([1, 2, 3])).toEqual([
      aJob(1, { name: 'again', lost: 1 }),
      aJob(2, { worker: 'w1', state: 'active', note: null, reason: 'x' }),
      aJob(3, { ...RUNNING, state: 'succeeded', worker: null, lost: 2 }),
    ])
  })

  it('makes rows of jobs that are queued together, with what else the commit says of some of them', async () => {
    const set = (seq: number, set: Partial<JobRow>): RowWrite => ({ op: 'update', table: 'job', key: { seq }, set })
    await store.append(rowsOnly(insertJob(aJob(1))))
    await store.append(rowsOnly(queueJobs(2, 5), set(3, RUNNING), set(1, { lost: 1 }), set(3, { note: 'x' })))
    await store.append(rowsOnly(queueJobs(6, 300)))
    const at = { submittedAt: 7 }
    expect(await store.queries.jobsBySeq([1, 2, 3, 4, 5, 6, 300])).toEqual([
      aJob(1, { lost: 1 }),
      aJob(2, at),
      aJob(3, { ...at, ...RUNNING, note: 'x' }),
      ...[4, 5, 6, 300].map(seq => aJob(seq, at)),
    ])
    const { live, lastSeq } = await recovered(store)
    expect([live.length, lastSeq]).toEqual([300, 300])
    await store.append(journaled(1, [insertJob(aJob(301))]))
    expect((await store.queries.jobsBySeq([301]))[0]).toEqual(aJob(301))
  })

  it.each<[string, RowWrite]>([
    ['a queue over a row', queueJobs(1, 200)],
    ['an insert over a row', insertJob(aJob(1, { id: 'another' }))],
    ['a job with the id of another', { op: 'put', table: 'job', row: aJob(7, { id: aJob(1).id }) }],
    ['an update of a missing row', { op: 'update', table: 'job', key: { seq: 9 }, set: { lost: 1 } }],
    ['an update of a key', { op: 'update', table: 'job', key: { seq: 1 }, set: { seq: 4 } }],
    ['an insert over a new row', insertJob(aJob(3))],
    ['an update of nothing', { op: 'update', table: 'job', key: { seq: 1 }, set: {} }],
    ['a delete of everything', { op: 'delete', table: 'job', key: {} }],
    ['a delete by the end of a key', { op: 'delete', table: 'attempt', key: { number: 1 } }],
  ])('writes nothing of a commit with %s', async (_, wrong) => {
    await store.append(journaled(1, [insertJob(aJob(1)), insertJob(aJob(2))]))
    const others: RowWrite[] = [
      { op: 'update', table: 'job', key: { seq: 1 }, set: { state: 'failed' } },
      { op: 'delete', table: 'job', key: { seq: 2 } },
      insertJob(aJob(3)),
      { op: 'put', table: 'meta', row: { key: 'epoch', value: '5' } },
    ]
    for (const rows of [
      [...others, wrong],
      [...others, ...manyJobs(100, 200), wrong],
    ]) {
      await expect(store.append(journaled(2, rows))).rejects.toThrow()
    }
    const { live, lastSeq, epoch, journal } = await recovered(store)
    expect({ live: live.map(job => job.seq), lastSeq, epoch, n: journal.n }).toEqual({
      live: [1, 2],
      lastSeq: 2,
      epoch: 0,
      n: 1,
    })
    await store.append(journaled(2, others))
  })

  it('keeps the order of the calls when large and small commits mix', async () => {
    await store.append(rowsOnly(insertJob(aJob(1))))
    const commits = Array.from({ length: 60 }, (_, index) => {
      const filler = index % 3 === 0 ? manyJobs(1_000 + index * 100, 100) : []
      const touch: RowWrite = { op: 'update', table: 'job', key: { seq: 1 }, set: { priority: index } }
      return journaled(index + 1, [touch, ...filler])
    })
    const done: number[] = []
    await Promise.all(commits.map((commit, index) => store.append(commit).then(() => done.push(index))))
    expect(done).toEqual(commits.map((_, index) => index))
    expect((await store.queries.jobsBySeq([1]))[0]?.priority).toBe(59)
    expect((await store.queries.journalAfter(0, 100)).map(row => row.n)).toEqual(commits.map((_, index) => index + 1))
  })

  it('answers queries while commits go on, never with half a commit', async () => {
    const seen: number[] = []
    const filter = { owner: null, states: null, type: null, worker: null, name: null, labels: [] }
    const writing = Array.from({ length: 10 }, (_, index) => store.append(rowsOnly(...manyJobs(1 + index * 100, 100))))
    for (let turn = 0; turn < 10; turn++) seen.push((await store.queries.page(filter, null, 2_000)).rows.length)
    await Promise.all(writing)
    expect(seen.filter(count => count % 100 !== 0)).toEqual([])
    expect((await store.queries.page(filter, null, 2_000)).rows).toHaveLength(1_000)
  })

  it('takes no commit after it is closed', async () => {
    await store.close()
    await expect(store.append(journaled(1))).rejects.toThrow('the store is closed')
  })
}

function queueJobs(from: number, to: number): RowWrite {
  const jobs = Array.from({ length: to - from + 1 }, (_, index) => aJob(from + index))
  const cells = jobs.flatMap(job => QUEUED_COLUMNS.map(column => job[column]))
  return { op: 'queue', table: 'job', jobs: { owner: 'ada', submittedAt: 7, cells } }
}

function manyJobs(from: number, count: number): readonly RowWrite[] {
  return Array.from({ length: count }, (_, index) => insertJob(aJob(from + index)))
}
