import { type JobRow, JobState, type RowWrite } from '@stoker/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { allPages, type StoreUnderTest } from './contract/harness.ts'
import { aJob, insertJob, rowsOnly } from './contract/sample-rows.ts'
import { createMemoryStore } from './memory/store.ts'
import { MOST_LOOKED_AT } from './page-bounds.ts'
import type { JobFilter } from './port.ts'
import { sqliteUnderTest } from './sqlite/sqlite-under-test.ts'

let sqlite: StoreUnderTest
const memory = createMemoryStore()

const OWNERS = ['ada', 'bob']
const TYPES = ['process', 'sleep']
const NAMES = ['train', 'eval', 'x']
const WORKERS = ['w1', 'w2']
const LABELS = ['a', 'b'].flatMap(key => ['1', '2'].map(value => ({ key, value })))

/** More jobs than one page looks at, twice over, with every mix of columns. */
const JOBS = 2 * MOST_LOOKED_AT + 500

beforeAll(async () => {
  sqlite = await sqliteUnderTest()
  const rows = Array.from({ length: JOBS }, (_, index) => rowsFor(index + 1)).flat()
  for (const store of [sqlite.store, memory]) await store.append(rowsOnly(...rows))
})
afterAll(() => sqlite.end())

/** Different strides make every combination of values occur, some of them rarely. */
function rowsFor(seq: number): readonly RowWrite[] {
  const pick = <T>(values: readonly T[], stride: number) => values[Math.floor(seq / stride) % values.length]
  const job = aJob(seq, {
    owner: pick(OWNERS, 1) ?? '',
    state: pick(JobState.options, 3) ?? 'queued',
    type: seq % 997 === 0 ? 'rare' : (pick(TYPES, 11) ?? ''),
    name: pick(NAMES, 17) ?? '',
    worker: pick([...WORKERS, null], 5) ?? null,
  })
  return [
    insertJob(job),
    ...labelsOf(seq).map(label => ({ op: 'insert', table: 'label', row: { ...label, job: seq } }) as const),
  ]
}

function labelsOf(seq: number): readonly (typeof LABELS)[number][] {
  return LABELS.filter((_, index) => seq % (index + 2) === 0)
}

const filters: fc.Arbitrary<JobFilter> = fc.record({
  owner: fc.option(fc.constantFrom(...OWNERS, 'nobody')),
  states: fc.option(fc.subarray([...JobState.options])),
  type: fc.option(fc.constantFrom(...TYPES, 'rare')),
  worker: fc.option(fc.constantFrom(...WORKERS)),
  name: fc.option(fc.constantFrom(...NAMES, 'none')),
  labels: fc.subarray(LABELS, { maxLength: 3 }),
  seqs: fc.option(fc.record({ from: fc.integer({ min: 0, max: JOBS }), to: fc.integer({ min: 0, max: JOBS + 10 }) }), {
    nil: undefined,
  }),
})

it('pages every filter exactly as a plain search does', async () => {
  const before = fc.option(fc.integer({ min: 0, max: JOBS + 10 }))
  const property = fc.asyncProperty(filters, before, fc.integer({ min: 1, max: 50 }), async (filter, seq, limit) => {
    const [found, expected] = await Promise.all(
      [sqlite, { store: memory }].map(({ store }) => store.queries.page(filter, seq, limit)),
    )
    expect(found).toEqual(expected)
  })
  await fc.assert(property, { numRuns: 500 })
})

it('has every match of a filter once in its pages, whatever their size', async () => {
  const jobs = await memory.queries.scan('job', 0, JOBS)
  const labels = new Map(jobs.map(({ seq }) => [seq, labelsOf(seq)]))
  const property = fc.asyncProperty(filters, fc.integer({ min: 200, max: 2_000 }), async (filter, limit) => {
    const matches = jobs.filter(job => isMatch(job, labels.get(job.seq) ?? [], filter)).map(job => job.seq)
    expect((await allPages(sqlite.store, filter, limit)).flat()).toEqual(matches.reverse())
  })
  await fc.assert(property, { numRuns: 60 })
})

/** A second opinion, which knows neither pages nor indexes. */
function isMatch(job: JobRow, labels: readonly (typeof LABELS)[number][], filter: JobFilter): boolean {
  const { owner, states, type, worker, name, seqs } = filter
  const equal = (wanted: string | null, value: string | null) => wanted === null || wanted === value
  return (
    [equal(owner, job.owner), equal(type, job.type), equal(worker, job.worker), equal(name, job.name)].every(Boolean) &&
    (seqs === undefined || (job.seq >= seqs.from && job.seq < seqs.to)) &&
    (states === null || states.includes(job.state)) &&
    filter.labels.every(({ key, value }) => labels.some(label => label.key === key && label.value === value))
  )
}
