import { type JobRow, type JobSpecInput, queuedRows, type RowWrite } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { aJob, TestHouse } from './test-house.ts'

/** What a submit of so many jobs with this spec writes; ids and names do not differ between calls. */
function rowsOf(specs: readonly JobSpecInput[]): readonly RowWrite[] {
  const house = new TestHouse()
  const jobs = specs.map((spec, index) => aJob({ type: 'noop', ...spec }, `job-${index}`))
  house.submit(...jobs)
  return house.journal.at(-1)?.commit.rows ?? []
}

const inserted = (rows: readonly RowWrite[]): JobRow[] =>
  rows.flatMap(write => (write.op === 'insert' && write.table === 'job' ? [write.row] : []))
const queued = (rows: readonly RowWrite[]): JobRow[] =>
  rows.flatMap(write => (write.op === 'queue' ? queuedRows(write.jobs) : []))

it('writes many plain jobs together, as the rows each would have had', () => {
  const many = rowsOf(Array.from({ length: 200 }, (_, index) => ({ priority: index % 3 })))
  expect(inserted(many)).toEqual([])
  const together = queued(many)
  expect(together).toHaveLength(200)
  const few = inserted(rowsOf(Array.from({ length: 10 }, (_, index) => ({ priority: index % 3 }))))
  expect(together.slice(0, 10)).toEqual(few)
})

it('gives a row of its own to each that has more to say', () => {
  const plain: JobSpecInput[] = Array.from({ length: 200 }, () => ({}))
  const special: JobSpecInput[] = [{ labels: { team: 'vision' } }, { hold: true }]
  const rows = rowsOf([...special, ...plain])
  expect(queued(rows)).toHaveLength(200)
  expect(inserted(rows).map(({ state, labels }) => [state, labels])).toEqual([
    ['queued', '{"team":"vision"}'],
    ['waiting', null],
  ])
})
