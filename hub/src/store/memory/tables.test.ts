import { expect, it } from 'vitest'
import { aJob, insertJob, journaled, rowsOnly } from '../contract/sample-rows.ts'
import { createMemoryTables } from './tables.ts'

it('goes back to a snapshot as if the later commits had never been', () => {
  const tables = createMemoryTables()
  tables.applyCommit(
    journaled(1, [insertJob(aJob(1)), { op: 'insert', table: 'label', row: { key: 'a', value: 'b', job: 1 } }]),
  )
  const before = tables.snapshot()
  tables.applyCommit(
    journaled(2, [
      insertJob(aJob(2)),
      { op: 'update', table: 'job', key: { seq: 1 }, set: { state: 'failed' } },
      { op: 'delete', table: 'label', key: { key: 'a' } },
    ]),
  )
  const after = tables.snapshot()
  tables.restore(before)
  expect(tables.journalEnd().n).toBe(1)
  expect(tables.queries.scan('job', 0, 10)).toEqual([aJob(1)])
  expect(tables.queries.jobById(aJob(2).id)).toBeNull()
  tables.applyCommit(journaled(2, [{ op: 'delete', table: 'job', key: { seq: 1 } }]))
  tables.restore(after)
  expect(tables.queries.scan('job', 0, 10)).toEqual([aJob(1, { state: 'failed' }), aJob(2)])
})

it('leaves no trace of a commit that fails in the middle', () => {
  const tables = createMemoryTables()
  tables.applyCommit(rowsOnly(insertJob(aJob(1))))
  const before = tables.snapshot()
  const wrong = rowsOnly({ op: 'delete', table: 'job', key: { seq: 1 } }, insertJob(aJob(2)), {
    op: 'update',
    table: 'job',
    key: { seq: 3 },
    set: { lost: 1 },
  })
  expect(() => tables.applyCommit(wrong)).toThrow('there is no such row')
  expect(tables.snapshot()).toEqual(before)
  expect(tables.queries.jobById(aJob(2).id)).toBeNull()
  expect(tables.queries.jobById(aJob(1).id)).toEqual(aJob(1))
})
