import { mkdtemp, open, readFile, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { removeTree } from '@stoker/files'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { recovered } from '../contract/harness.ts'
import { aJob, insertJob, journaled, rowsOnly } from '../contract/sample-rows.ts'
import { DiskFull, StoreUnusable } from '../port.ts'
import { MIGRATIONS } from './migrations/all.ts'
import { openSqliteStore } from './open.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stoker-open-'))
  file = join(folder, 'stoker.db')
})
afterEach(() => removeTree(folder))

function withDatabase<T>(work: (db: InstanceType<typeof DatabaseSync>) => T): T {
  const db = new DatabaseSync(file)
  try {
    return work(db)
  } finally {
    db.close()
  }
}

async function refusal(): Promise<Error> {
  const error = await openSqliteStore({ folder }).then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof StoreUnusable)) throw new Error(`expected a refusal, got ${error}`)
  return error
}

it('makes a database that is ours, may shrink, and knows its schema version', async () => {
  await (await openSqliteStore({ folder })).close()
  const read = (name: string) => withDatabase(db => Object.values(db.prepare(`PRAGMA ${name}`).get())[0])
  expect(read('application_id')).toBe(0x53746f6b)
  expect(read('auto_vacuum')).toBe(2)
  expect(read('user_version')).toBe(MIGRATIONS.length)
})

it('opens a file that a crash left empty', async () => {
  await writeFile(file, '')
  const store = await openSqliteStore({ folder })
  await store.append(journaled(1))
  await store.close()
})

it('brings a database of the first version to the newest and keeps its jobs', async () => {
  withDatabase(db => {
    db.exec('PRAGMA application_id = 0x53746f6b; PRAGMA user_version = 1')
    for (const statement of MIGRATIONS[0]?.statements ?? []) db.exec(statement)
    db.exec('CREATE TABLE kysely_migration (name TEXT PRIMARY KEY, timestamp TEXT NOT NULL)')
    db.exec(`INSERT INTO kysely_migration VALUES ('${MIGRATIONS[0]?.name}', '2026-01-01T00:00:00.000Z')`)
    db.exec(`INSERT INTO job (seq, state, owner, bucket, attempts, failures, lost, type, name, id, priority, submittedAt, spec)
      VALUES (1, 'queued', 'ada', 1, 0, 0, 0, 'noop', 'old', 'id-1', 0, 0, '{}')`)
  })
  const store = await openSqliteStore({ folder })
  await store.append(rowsOnly({ op: 'insert', table: 'hold', row: { job: 1, by: 'ada' } }))
  expect(await recovered(store)).toMatchObject({ live: [{ seq: 1 }], holds: [{ job: 1, by: 'ada' }] })
  await store.close()
})

it('refuses the database of a newer stoker and leaves it as it is', async () => {
  await (await openSqliteStore({ folder })).close()
  withDatabase(db => db.exec('PRAGMA user_version = 99'))
  const before = await readFile(file)
  const { message } = await refusal()
  expect(message).toBe(
    `${file} has schema 99, this stoker knows schemas up to ${MIGRATIONS.length}: upgrade stoker, or restore a backup made by this version`,
  )
  expect(await readFile(file)).toEqual(before)
})

it('refuses the database of another program and leaves it as it is', async () => {
  withDatabase(db => db.exec('CREATE TABLE recipes (name TEXT)'))
  const before = await readFile(file)
  expect((await refusal()).message).toContain('is a SQLite database of another program (application id 0, ours is')
  expect(await readFile(file)).toEqual(before)
})

it('refuses a file that is no database', async () => {
  await writeFile(file, 'this is a letter, not a database. '.repeat(200))
  expect((await refusal()).message).toContain('is not a SQLite database; a stoker database is needed: restore a backup')
})

it('refuses a database whose pages are damaged, at the latest when it recovers', async () => {
  const store = await openSqliteStore({ folder })
  await store.append(rowsOnly(...Array.from({ length: 5_000 }, (_, index) => insertJob(aJob(index + 1)))))
  await store.close()
  const handle = await open(file, 'r+')
  const { size } = await handle.stat()
  for (let at = 4_096 * 120; at < size; at += 4_096) await handle.write(Buffer.alloc(64, 0xff), 0, 64, at)
  await handle.close()
  const openAndRecover = async () => {
    const damaged = await openSqliteStore({ folder })
    await recovered(damaged).finally(() => damaged.close())
  }
  const failure = await openAndRecover().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(StoreUnusable)
  expect(String(failure)).toContain('is damaged')
})

it.each([1, 100])('says the disk is full, writes nothing, and goes on when there is room (%i rows)', async count => {
  const store = await openSqliteStore({ folder, maxPages: 120 })
  const spec = 'x'.repeat(8_000)
  let written = 0
  let failure: unknown = null
  for (let n = 1; failure === null; n++) {
    const jobs = Array.from({ length: count }, (_, index) => insertJob(aJob(n * 1_000 + index, { spec })))
    failure = await store.append(journaled(n, jobs)).then(
      () => null,
      (error: unknown) => error,
    )
    if (failure === null) written = n
  }
  expect(failure).toBeInstanceOf(DiskFull)
  const { live, journal } = await recovered(store)
  expect(live).toHaveLength(written * count)
  expect(journal.n).toBe(written)
  await store.append(rowsOnly(...live.map(({ seq }) => ({ op: 'delete', table: 'job', key: { seq } }) as const)))
  await store.append(journaled(written + 1, [insertJob(aJob(1, { spec }))]))
  await store.close()
})

it('writes nothing of a commit that was on its way behind one the disk had no room for', async () => {
  const store = await openSqliteStore({ folder, maxPages: 120 })
  const jobs = (from: number, spec: string) =>
    Array.from({ length: 100 }, (_, index) => insertJob(aJob(from + index, { spec })))
  const results = await Promise.allSettled([
    store.append(journaled(1, jobs(1, '{}'))),
    store.append(journaled(2, jobs(1_000, 'x'.repeat(8_000)))),
    store.append(journaled(3, jobs(2_000, '{}'))),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
  expect(results[1]).toMatchObject({ reason: expect.any(DiskFull) })
  const { live, journal } = await recovered(store)
  expect([live.length, journal.n]).toEqual([100, 1])
  await store.append(journaled(2, jobs(3_000, '{}')))
  expect((await recovered(store)).live).toHaveLength(200)
  await store.close()
})

it('keeps the write-ahead log within bounds while large commits follow each other', async () => {
  const store = await openSqliteStore({ folder })
  const spec = 'x'.repeat(4_000)
  let last: Promise<void> = Promise.resolve()
  for (let n = 1; n <= 300; n++) {
    const jobs = Array.from({ length: 200 }, (_, index) => insertJob(aJob(n * 1_000 + index, { spec })))
    const next = store.append(journaled(n, jobs))
    await last
    last = next
  }
  await last
  const { size } = await stat(`${file}-wal`)
  expect(size).toBeLessThan(160 * 2 ** 20)
  expect((await recovered(store)).live).toHaveLength(60_000)
  await store.close()
})

it('gives pages back to the file system when much was forgotten', async () => {
  const store = await openSqliteStore({ folder })
  const body = 'x'.repeat(60_000)
  for (let n = 1; n <= 200; n++) {
    await store.append({ journal: { n, at: n, hash: `${n}`, body }, rows: [] })
  }
  await store.prune({ keysBefore: 0, journalBefore: 5_000 })
  await store.close()
  expect((await readFile(file)).length).toBeLessThan(6 * 2 ** 20)
})

it('keeps its log short under small commits without end', async () => {
  const store = await openSqliteStore({ folder })
  let longest = 0
  const spec = 'x'.repeat(2_000)
  for (let n = 1; n <= 300; n++) {
    const jobs = Array.from({ length: 60 }, (_, index) => insertJob(aJob(n * 60 + index, { spec })))
    await store.append(journaled(n, jobs))
    if (n % 10 === 0) longest = Math.max(longest, (await stat(`${file}-wal`)).size)
  }
  await store.close()
  expect(longest).toBeLessThan(32 * 2 ** 20)
})

it('lets a guest see every commit but never continue from a stale end', async () => {
  const first = await openSqliteStore({ folder, guest: true })
  const second = await openSqliteStore({ folder, guest: true })
  await first.append(journaled(1, [insertJob(aJob(1))]))
  expect(await second.queries.jobsBySeq([1])).toHaveLength(1)
  await expect(second.append(journaled(1))).rejects.toThrow('journal row 1 does not follow the last row 1')
  await second.append(journaled(2))
  expect((await first.journalEnd()).n).toBe(2)
  await Promise.all([first.close(), second.close()])
})
