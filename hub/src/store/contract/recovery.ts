import type { RowWrite } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type OpenStore, recovered, type StoreUnderTest } from './harness.ts'
import {
  A_BUCKET,
  A_DEVICE,
  A_SECRET,
  A_SESSION,
  A_TOKEN,
  A_WEBHOOK,
  A_WORKER,
  aJob,
  anAttempt,
  idOf,
  insertJob,
  journaled,
  RUNNING,
  rowsOnly,
} from './sample-rows.ts'

/** What a hub that starts again learns. */
export function recoveryContract(open: OpenStore): void {
  let tested: StoreUnderTest
  beforeEach(async () => {
    tested = await open()
  })
  afterEach(() => tested.end())

  it('recovers nothing from a new store', async () => {
    expect(await recovered(tested.store)).toEqual({
      live: [],
      epoch: 0,
      lastSeq: 0,
      journal: { n: 0, hash: '' },
      buckets: [],
      workers: [],
      tokens: [],
      webhooks: [],
      secrets: [],
      counters: [],
      groups: [],
      limits: [],
      schedules: [],
      ownerUses: [],
      devices: [],
      claims: [],
      active: [],
      edges: [],
      holds: [],
      sessions: [],
    })
  })

  it('recovers live jobs in order of seq, the active ones with their attempts, and leaves ended ones out', async () => {
    const rows: RowWrite[] = [
      insertJob(aJob(1, { state: 'waiting', dueAt: 99, failures: 1, attempts: 1 })),
      insertJob(aJob(2, { ...RUNNING, cancelBy: 'ada', attemptState: 'stopping', session: 1 })),
      insertJob(aJob(3, { state: 'succeeded' })),
      insertJob(aJob(4, { owner: 'bob', lost: 2 })),
      insertJob(aJob(5, { state: 'waiting' })),
      { op: 'insert', table: 'bucket', row: A_BUCKET },
      { op: 'insert', table: 'worker', row: A_WORKER },
      { op: 'insert', table: 'token', row: A_TOKEN },
      { op: 'insert', table: 'webhook', row: A_WEBHOOK },
      { op: 'insert', table: 'secret', row: A_SECRET },
      { op: 'insert', table: 'attempt', row: anAttempt(4, 1, { claimed: 1 }) },
      { op: 'insert', table: 'attempt', row: anAttempt(4, 2) },
      { op: 'insert', table: 'edge', row: { job: 5, dependency: 3, kind: 'end' } },
      { op: 'insert', table: 'edge', row: { job: 5, dependency: 2, kind: 'success' } },
      { op: 'insert', table: 'hold', row: { job: 5, by: 'ada' } },
      { op: 'insert', table: 'session', row: A_SESSION },
      { op: 'insert', table: 'session', row: { ...A_SESSION, job: 3, endedAt: 9 } },
      { op: 'put', table: 'meta', row: { key: 'epoch', value: '3' } },
      { op: 'put', table: 'ownerUse', row: { owner: 'ada', average: 0.1 + 0.2, at: 1_790_000_000_123 } },
      { op: 'insert', table: 'device', row: A_DEVICE },
    ]
    await tested.store.append(journaled(1, rows))
    const live = { bucket: 1, attempts: 0, failures: 0, lost: 0, dueAt: null }
    expect(await recovered(await tested.reopen())).toEqual({
      live: [
        { ...live, seq: 1, state: 'waiting', dueAt: 99, failures: 1, attempts: 1 },
        { ...live, seq: 2, state: 'active', attempts: 1 },
        { ...live, seq: 4, state: 'queued', lost: 2 },
        { ...live, seq: 5, state: 'waiting' },
      ],
      epoch: 3,
      lastSeq: 5,
      journal: { n: 1, hash: 'hash-1' },
      buckets: [A_BUCKET],
      workers: [A_WORKER],
      tokens: [A_TOKEN],
      webhooks: [A_WEBHOOK],
      secrets: [{ owner: 'ada', name: 'A', bytes: 3, createdAt: 1, changedAt: 2 }],
      counters: [],
      groups: [],
      limits: [],
      schedules: [],
      ownerUses: [{ owner: 'ada', average: 0.1 + 0.2, at: 1_790_000_000_123 }],
      devices: [A_DEVICE],
      claims: [anAttempt(4, 1, { claimed: 1 })],
      active: [
        {
          seq: 2,
          attemptEpoch: 1,
          attemptState: 'stopping',
          worker: 'w1',
          gpus: ['GPU-1'],
          placedAt: 5,
          runningAt: 6,
          cancelBy: 'ada',
          isolation: 'none',
          session: 1,
          containerId: 'c0ffee',
        },
      ],
      edges: [
        { job: 5, dependency: 2, kind: 'success', id: idOf(2), state: 'active' },
        { job: 5, dependency: 3, kind: 'end', id: idOf(3), state: 'succeeded' },
      ],
      holds: [{ job: 5, by: 'ada' }],
      sessions: [A_SESSION],
    })
  })

  it('visits many live jobs in slices, each once and in order', async () => {
    const jobs = Array.from({ length: 25_000 }, (_, index) =>
      insertJob(aJob(index + 1, { state: index % 3 === 0 ? 'waiting' : 'queued' })),
    )
    await tested.store.append(rowsOnly(...jobs))
    const slices: number[] = []
    const seqs: number[] = []
    await tested.store.recover(slice => {
      slices.push(slice.length)
      seqs.push(...slice.map(job => job.seq))
    })
    expect(Math.max(...slices)).toBeLessThanOrEqual(2_000)
    expect(seqs).toEqual(jobs.map((_, index) => index + 1))
  })

  it('never gives the seq of a deleted job again', async () => {
    await tested.store.append(rowsOnly(insertJob(aJob(1)), insertJob(aJob(20)), insertJob(aJob(30))))
    await tested.store.append(rowsOnly({ op: 'delete', table: 'job', key: { seq: 30 } }))
    await tested.store.append(rowsOnly({ op: 'delete', table: 'job', key: { seq: 20 } }))
    expect((await recovered(await tested.reopen())).lastSeq).toBe(30)
  })

  it('refuses to recover an active job without a live attempt, naming both facts', async () => {
    await tested.store.append(rowsOnly(insertJob(aJob(1, { state: 'active' }))))
    await expect(recovered(tested.store)).rejects.toThrow('job 1 is active, but its attempt is null on worker null')
  })

  it('finds jobs by their whole ids, in the order asked', async () => {
    await tested.store.append(rowsOnly(insertJob(aJob(1)), insertJob(aJob(2, { owner: 'bob', state: 'failed' }))))
    expect(await tested.store.jobRefs([idOf(2), 'nothing', idOf(1)])).toEqual([
      { id: idOf(2), seq: 2, owner: 'bob', state: 'failed' },
      { id: idOf(1), seq: 1, owner: 'ada', state: 'queued' },
    ])
  })

  it('remembers an idempotency key per owner', async () => {
    const row = { owner: 'ada', key: 'k', hash: 'h', firstSeq: 4, count: 2, at: 10 }
    await tested.store.append(rowsOnly({ op: 'insert', table: 'idempotency', row }))
    const again = await tested.reopen()
    expect(await again.idempotency('ada', 'k')).toEqual(row)
    expect(await again.idempotency('bob', 'k')).toBeNull()
  })
}
