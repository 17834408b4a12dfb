import { NO_LIMITS, type RowWrite } from '@stoker/protocol'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { recovered } from './contract/harness.ts'
import { ANY } from './contract/queries.ts'
import {
  A_BUCKET,
  A_SCHEDULE,
  A_TOKEN,
  A_WORKER,
  aChunk,
  aGroup,
  aJob,
  anAttempt,
  RUNNING,
} from './contract/sample-rows.ts'
import { createMemoryStore } from './memory/store.ts'
import type { Store } from './port.ts'
import { sqliteUnderTest } from './sqlite/sqlite-under-test.ts'

const few = fc.integer({ min: 1, max: 4 })
const word = fc.constantFrom('a', 'b')
const adding = fc.constantFrom('insert' as const, 'put' as const)

/** Writes of every kind to every table over so few keys that they meet, often wrongly. */
const write: fc.Arbitrary<RowWrite> = fc.oneof(
  fc
    .tuple(adding, few, few, fc.constantFrom({}, RUNNING, { state: 'failed' } as const))
    .map(([op, seq, id, over]) => ({ op, table: 'job', row: aJob(seq, { id: `id-${id}`, ...over }) }) as const),
  fc
    .tuple(few, fc.constantFrom({ state: 'waiting', dueAt: 5 } as const, { name: 'eval' }, { id: 'id-1' }))
    .map(([seq, set]) => ({ op: 'update', table: 'job', key: { seq }, set }) as const),
  few.map(seq => ({ op: 'delete', table: 'job', key: { seq } }) as const),
  fc
    .tuple(adding, few, few, fc.integer({ min: 0, max: 1 }))
    .map(([op, job, n, claimed]) => ({ op, table: 'attempt', row: anAttempt(job, n, { claimed }) }) as const),
  fc
    .tuple(few, few)
    .map(([job, number]) => ({ op: 'update', table: 'attempt', key: { job, number }, set: { claimed: 0 } }) as const),
  few.map(job => ({ op: 'delete', table: 'attempt', key: { job } }) as const),
  fc.tuple(adding, few, few).map(([op, job, offset]) => ({ op, table: 'chunk', row: aChunk(job, offset) }) as const),
  few.map(job => ({ op: 'delete', table: 'chunk', key: { job, epoch: 1 } }) as const),
  fc
    .tuple(adding, few, few)
    .map(
      ([op, job, pack]) =>
        ({ op, table: 'sealed', row: { job, epoch: 1, attempt: 1, pack, position: 0, length: 1 } }) as const,
    ),
  fc.tuple(adding, few).map(([op, id]) => ({ op, table: 'bucket', row: { ...A_BUCKET, id } }) as const),
  few.map(id => ({ op: 'delete', table: 'bucket', key: { id } }) as const),
  fc.tuple(adding, word).map(([op, id]) => ({ op, table: 'worker', row: { ...A_WORKER, id } }) as const),
  fc.tuple(word, few).map(([id, batch]) => ({ op: 'update', table: 'worker', key: { id }, set: { batch } }) as const),
  fc.tuple(adding, word).map(([op, id]) => ({ op, table: 'token', row: { ...A_TOKEN, id } }) as const),
  fc
    .tuple(adding, word, few)
    .map(([op, owner, n]) => ({ op, table: 'counter', row: { owner, state: 'queued', n } }) as const),
  fc
    .tuple(adding, word, few)
    .map(([op, value, job]) => ({ op, table: 'label', row: { key: 'k', value, job } }) as const),
  word.map(value => ({ op: 'delete', table: 'label', key: { key: 'k', value } }) as const),
  fc
    .tuple(adding, word, few)
    .map(
      ([op, key, at]) =>
        ({ op, table: 'idempotency', row: { owner: 'ada', key, hash: 'h', firstSeq: 1, count: 1, at } }) as const,
    ),
  fc
    .tuple(adding, few, few)
    .map(([op, job, dependency]) => ({ op, table: 'edge', row: { job, dependency, kind: 'end' } }) as const),
  few.map(job => ({ op: 'delete', table: 'edge', key: { job } }) as const),
  fc.tuple(adding, few, word).map(([op, job, by]) => ({ op, table: 'hold', row: { job, by } }) as const),
  few.map(job => ({ op: 'delete', table: 'hold', key: { job } }) as const),
  fc.tuple(adding, few).map(([op, seq]) => ({ op, table: 'jobGroup', row: aGroup(seq) }) as const),
  few.map(endedAt => ({ op: 'update', table: 'jobGroup', key: { id: aGroup(1).id }, set: { endedAt } }) as const),
  fc
    .tuple(adding, word, few)
    .map(([op, owner, gpus]) => ({ op, table: 'ownerLimits', row: { ...NO_LIMITS, owner, gpus } }) as const),
  word.map(owner => ({ op: 'delete', table: 'ownerLimits', key: { owner } }) as const),
  fc.tuple(adding, word).map(([op, id]) => ({ op, table: 'schedule', row: { ...A_SCHEDULE, id } }) as const),
  fc
    .tuple(word, few)
    .map(([id, nextAt]) => ({ op: 'update', table: 'schedule', key: { id }, set: { nextAt } }) as const),
  fc
    .tuple(adding, word, word)
    .map(([op, owner, sha256]) => ({ op, table: 'blob', row: { owner, sha256, size: 1, at: 1, usedAt: 1 } }) as const),
  fc
    .tuple(adding, few, word)
    .map(([op, job, sha256]) => ({ op, table: 'input', row: { job, sha256, owner: 'a' } }) as const),
  few.map(job => ({ op: 'delete', table: 'input', key: { job } }) as const),
  fc.tuple(adding, few, word).map(
    ([op, job, path]) =>
      ({
        op,
        table: 'artifact',
        row: { job, attempt: 1, path, owner: 'a', sha256: 'a', size: 1, executable: 0 },
      }) as const,
  ),
  few.map(value => ({ op: 'put', table: 'meta', row: { key: 'epoch', value: `${value}` } }) as const),
)

/** Whether each commit was taken, then all that can be read. */
async function told(store: Store, commits: readonly (readonly RowWrite[])[]): Promise<unknown> {
  const taken: boolean[] = []
  for (const rows of commits) {
    const accepted = store.append({ journal: null, rows })
    taken.push(
      await accepted.then(
        () => true,
        () => false,
      ),
    )
  }
  const tables = ['job', 'attempt', 'chunk', 'sealed'] as const
  const labelled = ['a', 'b'].map(value => store.queries.page({ ...ANY, labels: [{ key: 'k', value }] }, null, 10))
  return {
    taken,
    recovered: await recovered(store),
    tables: await Promise.all(tables.map(table => store.queries.scan(table, 0, 1_000))),
    labelled: await Promise.all(labelled),
    groups: await store.queries.groups(null, null, 10),
    keys: await Promise.all(['a', 'b'].map(key => store.idempotency('ada', key))),
  }
}

it('takes and refuses the same commits in memory and on disk, and then holds the same', async () => {
  const commits = fc.array(fc.array(write, { minLength: 1, maxLength: 4 }), { minLength: 20, maxLength: 40 })
  const property = fc.asyncProperty(commits, async given => {
    const tested = await sqliteUnderTest()
    try {
      expect(await told(tested.store, given)).toEqual(await told(createMemoryStore(), given))
    } finally {
      await tested.end()
    }
  })
  await fc.assert(property, { numRuns: 25 })
}, 60_000)
