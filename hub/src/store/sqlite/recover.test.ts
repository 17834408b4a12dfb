import { expect, it } from 'vitest'
import { openConnection } from './connection.ts'
import { migrate } from './migrate.ts'
import { LIVE_SLICE } from './recover.ts'

it('reads live jobs from their index alone, in order, and sorts nothing', async () => {
  const db = openConnection(':memory:', { readOnly: false, checkpointPages: 1_000, maxPages: null })
  await migrate(db, ':memory:')
  const steps: readonly { readonly detail: string }[] = db.prepare(`EXPLAIN QUERY PLAN ${LIVE_SLICE}`).all(0, 0, 0)
  db.close()
  const searches = steps.map(({ detail }) => detail).filter(detail => detail.includes(' job '))
  expect(searches).toEqual(Array(3).fill('SEARCH job USING COVERING INDEX job_state (state=? AND seq>?)'))
  expect(steps.map(({ detail }) => detail).join('\n')).not.toContain('TEMP B-TREE')
})
