import { expect, it } from 'vitest'
import { ANY } from '../contract/queries.ts'
import type { JobFilter } from '../port.ts'
import { openConnection } from './connection.ts'
import { migrate } from './migrate.ts'
import { foundText, lookedText } from './page.ts'

/** The steps SQLite takes for both reads of a page. */
async function plansOf(filter: JobFilter): Promise<readonly (readonly string[])[]> {
  const db = openConnection(':memory:', { readOnly: false, checkpointPages: 1_000, maxPages: null })
  await migrate(db, ':memory:')
  const plan = (text: string, values: readonly (string | number | null)[]) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${text}`)
      .all(...values)
      .map((step: { readonly detail: string }) => step.detail)
  const found = foundText(filter)
  const looked = lookedText(filter)
  const plans = [plan(found.text, [...found.values(100), 10]), plan(looked.text, looked.values(100))]
  db.close()
  return plans
}

const label = { key: 'team', value: 'vision' }
const byState = 'SEARCH job USING COVERING INDEX job_state (state=? AND seq<?)'
const byOwner = 'SEARCH job USING COVERING INDEX job_owner (owner=? AND seq<?)'
const byLabel = 'SEARCH label USING PRIMARY KEY (key=? AND value=? AND job<?)'

it.each<[string, Partial<JobFilter>, string]>([
  ['nothing', {}, 'SEARCH job USING INTEGER PRIMARY KEY (rowid<?)'],
  ['a name, a type and a worker', { name: 'a', type: 'x', worker: 'w' }, 'SEARCH job USING INTEGER PRIMARY KEY'],
  ['an owner', { owner: 'ada' }, byOwner],
  ['an owner and a type', { owner: 'ada', type: 'x' }, byOwner],
  ['a live state', { states: ['queued'] }, byState],
  ['an ended state of an owner', { owner: 'ada', states: ['failed'] }, byState],
  ['several states', { owner: 'ada', states: ['queued', 'active', 'failed'] }, byState],
  ['a label', { labels: [label] }, byLabel],
  ['labels, a state and an owner', { labels: [label, label], states: ['failed'], owner: 'ada' }, byLabel],
])('walks one index in order and sorts nothing for a page of %s', async (_, filter, step) => {
  for (const plan of await plansOf({ ...ANY, ...filter })) {
    const steps = plan.join('\n')
    expect(steps).toContain(step)
    expect(steps).not.toMatch(/SCAN (job|label)\b/)
    expect(steps).not.toContain('TEMP B-TREE')
  }
})
