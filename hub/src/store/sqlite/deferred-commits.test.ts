import { cp, mkdir, mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree } from '@stoker/files'
import type { JobRow, RowWrite } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { recovered } from '../contract/harness.ts'
import { A_TOKEN, aChunk, aJob, insertJob, journaled } from '../contract/sample-rows.ts'
import type { Commit, Store } from '../port.ts'
import { commitLogBeside, readCommitLog } from './commit-log.ts'
import { openSqliteStore } from './open.ts'

let root: string
let live: string
const stores: Store[] = []
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'stoker-deferred-'))
  live = join(root, 'live')
  await mkdir(live)
})
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close()
  await removeTree(root)
})

async function opened(folder: string, guest = false): Promise<Store> {
  const store = await openSqliteStore({ folder, guest })
  stores.push(store)
  return store
}

/** Ids grow with the seqs, as the hub makes them. */
const job = (seq: number, over: Partial<JobRow> = {}): RowWrite =>
  insertJob(aJob(seq, { id: `01890000-0000-7000-8000-${String(seq).padStart(12, '0')}`, ...over }))
const submit = (n: number, ...more: readonly RowWrite[]): Commit => journaled(n, [job(n), ...more])
const logged = (folder: string) => readCommitLog(commitLogBeside(join(folder, 'stoker.db')), null)

/** The files as a power cut leaves them, which takes nothing that was synced. */
async function cutPower(): Promise<string> {
  const copy = join(root, 'after-the-cut')
  await cp(live, copy, { recursive: true })
  return copy
}

it('has an acknowledged submit after a power cut, when only the log had it', async () => {
  const store = await opened(live)
  await store.append(submit(1))
  await store.append(submit(2, { op: 'put', table: 'counter', row: { owner: 'ada', state: 'queued', n: 2 } }))
  const copy = await cutPower()
  expect(logged(copy)).toHaveLength(2)
  const again = await recovered(await opened(copy))
  expect(again.live.map(({ seq }) => seq)).toEqual([1, 2])
  expect(again).toMatchObject({ journal: { n: 2 }, counters: [{ owner: 'ada', n: 2 }] })
})

it('makes rows of a record once, however often a start is cut off', async () => {
  const store = await opened(live)
  await store.append(submit(1))
  const copy = await cutPower()
  await cp(commitLogBeside(join(copy, 'stoker.db')), join(root, 'log'))
  await (await openSqliteStore({ folder: copy })).close()
  await cp(join(root, 'log'), commitLogBeside(join(copy, 'stoker.db')))
  expect((await recovered(await opened(copy))).live).toHaveLength(1)
})

it('knows of output that only the log has, and makes no rows for the question', async () => {
  const store = await opened(live)
  await store.append(submit(1, { op: 'put', table: 'chunk', row: aChunk(1, 0) }))
  expect(await store.queries.hasOutput(1, 1, 1)).toBe(true)
  expect(await store.queries.hasOutput(1, 1, 2)).toBe(false)
  expect(logged(live)).toHaveLength(1)
})

it('goes on numbering where the last owner ended', async () => {
  for (let n = 1; n <= 3; n++) {
    const store = await openSqliteStore({ folder: live })
    await store.append(submit(n))
    expect(logged(live).map(({ number }) => number)).toEqual([n])
    await store.close()
  }
  expect(await readdir(live)).toEqual(['stoker.db'])
  expect((await recovered(await opened(live))).live).toHaveLength(3)
})

it('makes rows of hundreds of submits by the thread, and of all before a change', async () => {
  const store = await opened(live)
  for (let n = 1; n <= 600; n++) await store.append(submit(n))
  await store.append(journaled(601, [{ op: 'update', table: 'job', key: { seq: 600 }, set: { state: 'failed' } }]))
  const { live: queued, journal } = await recovered(store)
  expect(queued.map(({ seq }) => seq)).toEqual(Array.from({ length: 599 }, (_, index) => index + 1))
  expect(journal.n).toBe(601)
})

it('gives jobs to offers and keys to repeated submits before they are rows', async () => {
  const store = await opened(live)
  const key = { owner: 'ada', key: 'k', hash: 'h', firstSeq: 1, count: 1, at: 10 }
  await store.append(submit(1, { op: 'put', table: 'idempotency', row: key }))
  expect(await store.idempotency('ada', 'k')).toEqual(key)
  expect((await store.queries.offers([7, 1])).map(({ seq, spec }) => ({ seq, spec }))).toEqual([
    { seq: 1, spec: '{"seq":1}' },
  ])
  expect(logged(live)).toHaveLength(1)
})

it.each<[string, readonly RowWrite[]]>([
  ['an update', [{ op: 'update', table: 'job', key: { seq: 1 }, set: { lost: 1 } }]],
  ['a delete', [{ op: 'delete', table: 'counter', key: { owner: 'ada' } }]],
  ['another insert', [{ op: 'insert', table: 'token', row: A_TOKEN }]],
  ['an id that does not grow', [job(2, { id: '01890000-0000-7000-8000-000000000000' })]],
])('makes %s rows at once', async (_, rows) => {
  const store = await opened(live)
  await store.append(submit(1))
  await store.append(journaled(2, rows))
  const after = logged(await cutPower())
  expect(after.filter(({ number }) => number > 1)).toEqual([])
})

it.each<[string, Partial<JobRow>]>([
  ['a seq in two', { seq: 2.5 }],
  ['a number without end', { lost: Number.POSITIVE_INFINITY }],
  ['a text for a number', { lost: 'one' as never }],
  ['nothing for what must be', { owner: null as never }],
  ['a seq that is taken', { seq: 1 }],
])('refuses a job with %s and goes on', async (_, wrong) => {
  const store = await opened(live)
  await store.append(submit(1))
  await expect(store.append(journaled(2, [job(2, wrong)]))).rejects.toThrow('the commit failed')
  await expect(store.append(submit(3))).rejects.toThrow('journal row 3 does not follow the last row 1')
  await store.append(submit(2))
  expect((await recovered(store)).live.map(({ seq }) => seq)).toEqual([1, 2])
})

it('gives a guest a copy with all that was acknowledged', async () => {
  const owner = await opened(live)
  for (let n = 1; n <= 20; n++) await owner.append(submit(n))
  const guest = await opened(live, true)
  await mkdir(join(root, 'copy'))
  await guest.backup(join(root, 'copy', 'stoker.db'))
  expect((await recovered(await opened(join(root, 'copy')))).live).toHaveLength(20)
  await owner.append(submit(21))
  expect((await owner.journalEnd()).n).toBe(21)
})

it('opens no database whose log speaks of commits it never had', async () => {
  const store = await openSqliteStore({ folder: live })
  await store.append(submit(1))
  await store.queries.jobsBySeq([1])
  await store.append(submit(2))
  const log = join(root, 'log')
  await cp(commitLogBeside(join(live, 'stoker.db')), log)
  await store.close()
  await mkdir(join(root, 'other'))
  await (await openSqliteStore({ folder: join(root, 'other') })).close()
  await cp(log, commitLogBeside(join(root, 'other', 'stoker.db')))
  await expect(openSqliteStore({ folder: join(root, 'other') })).rejects.toThrow(
    'has the commits up to record 0, its log goes on with 2',
  )
})
