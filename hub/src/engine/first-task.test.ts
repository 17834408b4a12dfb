import { expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './test-house.ts'

it('gives the first task to a session as soon as the session has its place, before its program runs', () => {
  const house = new TestHouse()
  house.join(aHello('w'))
  const session = house.submit(aJob({ command: 'serve', session: { concurrency: 1 } }, 's'))
  const task = house.submit(aJob({ type: 'task', task: { session: 's' } }))
  expect(house.state.active.get(session)?.state).toBe('leased')
  expect(house.state.active.get(task)?.claim.session).toMatchObject({ job: session })
})
