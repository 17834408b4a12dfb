import { expect, it } from 'vitest'
import { ANY } from '../contract/queries.ts'
import type { JobFilter } from '../port.ts'
import { IN_BLOCKS } from './blocks.ts'
import { openConnection } from './connection.ts'
import { migrate } from './migrate.ts'
import { pageQuery, type Walk, walksOf } from './page.ts'

async function planOf(walks: readonly Walk[]): Promise<readonly string[]> {
  const db = openConnection(':memory:', { readOnly: false, checkpointPages: 1_000, maxPages: null })
  await migrate(db, ':memory:')
  const { text, values } = pageQuery(walks, 100, 10)
  const plan: readonly { readonly detail: string }[] = db.prepare(`EXPLAIN QUERY PLAN ${text}`).all(...values)
  db.close()
  return plan.map(step => step.detail)
}

const label = { key: 'team', value: 'vision' }

it.each<[string, Partial<JobFilter>, string]>([
  ['nothing', {}, 'SEARCH job USING INTEGER PRIMARY KEY'],
  ['an owner', { owner: 'ada' }, 'SEARCH job USING COVERING INDEX job_owner (owner=? AND state=? AND seq<?)'],
  [
    'an owner and a type',
    { owner: 'ada', type: 'x' },
    'SEARCH job USING COVERING INDEX job_owner (owner=? AND state=? AND seq<?)',
  ],
  ['a live state', { states: ['queued'] }, 'SEARCH job USING COVERING INDEX job_live (state=? AND seq<?)'],
  ['an ended state', { states: ['failed'] }, 'SEARCH job USING COVERING INDEX job_ended (state=? AND seq<?)'],
  ['a type', { type: 'x' }, 'SEARCH job USING COVERING INDEX job_type (type=? AND seq<?)'],
  ['a worker', { worker: 'w1' }, 'SEARCH job USING COVERING INDEX job_worker (worker=? AND seq<?)'],
  ['a label', { labels: [label] }, 'SEARCH label USING PRIMARY KEY (key=? AND value=? AND job<?)'],
])('walks one index in order and sorts nothing for a page of %s', async (_, filter, step) => {
  const plan = await planOf(walksOf({ ...ANY, ...filter }))
  expect(
    plan.some(detail => detail.startsWith(step)),
    plan.join('\n'),
  ).toBe(true)
  expect(plan.filter(detail => detail.startsWith('SCAN job') || detail.startsWith('SCAN label'))).toEqual([])
  expect(plan.filter(detail => detail.includes('TEMP B-TREE'))).toEqual([])
})

it('seeks a name in each block it is asked for', async () => {
  const [byName] = walksOf({ ...ANY, name: 'train' })
  if (byName === undefined) throw new Error('a name needs a walk')
  const plan = await planOf([{ ...byName, where: [IN_BLOCKS, ...byName.where], values: ['[0,1]', ...byName.values] }])
  const seek = 'SEARCH job USING COVERING INDEX job_name (<expr>=? AND name=?'
  expect(
    plan.some(detail => detail.startsWith(seek)),
    plan.join('\n'),
  ).toBe(true)
})

it('merges the walks of several states without sorting them', async () => {
  const plan = await planOf(walksOf({ ...ANY, owner: 'ada', states: ['queued', 'active', 'failed'] }))
  expect(plan.filter(detail => detail.startsWith('MERGE'))).not.toEqual([])
  expect(plan.filter(detail => detail.includes('TEMP B-TREE'))).toEqual([])
})
