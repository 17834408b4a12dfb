import { type JobRow, QUEUED_COLUMNS, type RowWrite } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { aJob, insertJob } from '../contract/sample-rows.ts'
import { foldJobWrites } from './fold-job-writes.ts'

const set = (seq: number, columns: Partial<JobRow>): RowWrite => ({
  op: 'update',
  table: 'job',
  key: { seq },
  set: columns,
})
const remove = (seq: number): RowWrite => ({ op: 'delete', table: 'job', key: { seq } })

it('writes a job that is submitted, placed and ended in one commit once', () => {
  const label: RowWrite = { op: 'insert', table: 'label', row: { key: 'a', value: 'b', job: 1 } }
  const rows = [insertJob(aJob(1)), label, set(1, { state: 'active', worker: 'w1' }), set(1, { state: 'succeeded' })]
  expect(foldJobWrites(rows)).toEqual([insertJob(aJob(1, { state: 'succeeded', worker: 'w1' })), label])
})

it('takes those apart that are touched, and leaves the others together', () => {
  const queued = (...seqs: readonly number[]): RowWrite => ({
    op: 'queue',
    table: 'job',
    jobs: {
      owner: 'ada',
      submittedAt: 7,
      cells: seqs.flatMap(seq => QUEUED_COLUMNS.map(column => aJob(seq)[column])),
    },
  })
  const at = { submittedAt: 7 }
  expect(foldJobWrites([queued(1, 2, 3), set(2, { lost: 1 }), set(9, { lost: 1 })])).toEqual([
    queued(1, 3),
    insertJob(aJob(2, { ...at, lost: 1 })),
    set(9, { lost: 1 }),
  ])
  expect(foldJobWrites([queued(1), set(1, { lost: 2 })])).toEqual([insertJob(aJob(1, { ...at, lost: 2 }))])
  expect(foldJobWrites([queued(1, 2), remove(2)])).toEqual([queued(1), insertJob(aJob(2, at)), remove(2)])
  expect(foldJobWrites([queued(1, 2)])).toEqual([queued(1, 2)])
})

it('joins the updates of a job and leaves the given writes as they were', () => {
  const first = set(1, { state: 'active', note: 'a' })
  expect(foldJobWrites([first, set(2, { lost: 1 }), set(1, { note: null })])).toEqual([
    set(1, { state: 'active', note: null }),
    set(2, { lost: 1 }),
  ])
  expect(first).toEqual(set(1, { state: 'active', note: 'a' }))
})

it.each<[string, RowWrite]>([
  ['a delete', remove(1)],
  ['a put', { op: 'put', table: 'job', row: aJob(1) }],
  ['a second insert', insertJob(aJob(1))],
  ['an update of an id', set(1, { id: 'other' })],
  ['an update of a key', set(1, { seq: 4 })],
  ['an update of nothing', set(1, {})],
  ['an update of a column that is none', set(1, { ['colour' as 'name']: 'red' })],
])('folds nothing into or across %s', (_, fence) => {
  const rows = [insertJob(aJob(1)), fence, set(1, { lost: 1 })]
  expect(foldJobWrites(rows)).toEqual(rows)
})
