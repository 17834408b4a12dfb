import type { Change } from '@stoker/protocol'
import { expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { SessionBook } from './session-book.ts'

/** What the book says of a history that was changed. */
function complaints(edit: (changes: Change[]) => Change[], state: 'queued' | 'active' = 'active'): string[] {
  const house = new TestHouse()
  house.join(aHello('w'))
  const session = house.submit(aJob({ command: 'serve', session: { concurrency: 1 } }, 's'))
  house.report('w', house.running(house.fenceOf(session)))
  const task = house.submit(
    aJob({ type: 'task', task: { session: 's' } }),
    aJob({ type: 'task', task: { session: 's' } }),
  )
  house.report('w', house.ended(house.fenceOf(task), 'completed'))
  const found: string[] = []
  const book = new SessionBook(
    (_, text) => found.push(text),
    () => state,
  )
  for (const change of edit(house.journal.flatMap(({ changes }) => [...changes]))) book.take(change)
  book.closeCommit()
  return found
}

it('finds nothing wrong with what the engine does', () => {
  expect(complaints(changes => changes)).toEqual([])
})

it('sees too many tasks in a session, tasks before it is placed and tasks on another worker', () => {
  const without = (c: Change['c'], job: number) => (changes: Change[]) =>
    changes.filter(change => !(change.c === c && 'job' in change && change.job === job))
  expect(complaints(without('attemptEnded', 2)).join()).toContain('then has 2 tasks and 1 places')
  expect(complaints(changes => without('placed', 1)(without('running', 1)(changes))).join()).toContain('does not run')
  const moved = complaints(changes =>
    changes.map(change => (change.c === 'placed' && change.job === 2 ? { ...change, worker: 'x' } : change)),
  )
  expect(moved.join()).toContain('is on worker w, not on x')
  const outside = complaints(changes =>
    changes.map(({ ...change }) => {
      if (change.c === 'placed') delete change.session
      return change
    }),
  )
  expect(outside.join()).toContain('placed outside a session')
})

it('sees tasks that wait for a session that has ended', () => {
  const end: Change = { c: 'ended', job: 1, state: 'canceled', reason: 'manual', at: 0 }
  expect(complaints(changes => [...changes, end], 'queued').join()).toContain('waits for session:s, which has ended')
})
