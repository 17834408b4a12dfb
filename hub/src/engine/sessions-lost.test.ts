import { afterEach, beforeEach, expect, it } from 'vitest'
import { aHello } from './test-house.ts'
import { lostByRestart } from './test-restart.ts'
import { aSession, aTask, SessionHouse } from './test-session-house.ts'

let house: SessionHouse
beforeEach(() => {
  house = new SessionHouse()
  house.join(aHello('w'))
})
afterEach(() => expect(house.problems).toEqual([]))

it('starts a session again after a crash, under the same id, and its tasks go on there', () => {
  const session = house.warm('s', { restarts: 1, queue: 5 })
  const [busy, waiting] = [house.submit(aTask('s')), house.submit(aTask('s'))]
  house.report(
    'w',
    house.ended(house.fenceOf(busy), 'failed', 'exited with code 1'),
    house.ended(house.fenceOf(session), 'failed', 'exited with code 1'),
  )
  expect([house.stateOf(session), house.stateOf(busy), house.stateOf(waiting)]).toEqual(['waiting', 'failed', 'queued'])
  house.pass(2, ['w'])
  house.report('w', house.running(house.fenceOf(session)))
  expect(house.state.active.get(waiting)?.claim.session).toEqual({ ...house.fenceOf(session), attempt: 2 })
  expect(lostByRestart(house)).toBeNull()
})

it('loses tasks with the attempt of their session if its worker did not end them before', () => {
  const session = house.warm('s', { restarts: 1 })
  const task = house.submit(aTask('s'))
  house.report('w', house.ended(house.fenceOf(session), 'failed', 'crashed'))
  expect(house.stateOf(task)).toBe('queued')
  expect(house.state.workers.get('w')?.lost.size).toBe(0)
  expect(lostByRestart(house)).toBeNull()
})

it('loses session and tasks together when their worker is silent, and takes both back when it returns', () => {
  const session = house.warm('s', { idleTimeout: '1h' })
  house.pass(600, ['w'])
  const task = house.submit(aTask('s'))
  house.report('w', house.running(house.fenceOf(task)))
  const fences = [house.fenceOf(session), house.fenceOf(task)]
  house.pass(20)
  expect([house.stateOf(session), house.stateOf(task)]).toEqual(['active', 'active'])
  house.pass(20)
  expect([house.stateOf(session), house.stateOf(task)]).toEqual(['queued', 'queued'])
  expect(lostByRestart(house)).toBeNull()
  house.run({ kind: 'returned', worker: 'w' })
  expect([house.fenceOf(session), house.fenceOf(task)]).toEqual(fences)
  expect(house.state.sessions.get(session)?.places.size).toBe(1)
  expect(lostByRestart(house)).toBeNull()
})

it('takes no task back whose session began anew elsewhere, but believes the end of one nobody else began', () => {
  const session = house.warm('s', { concurrency: 2 })
  const [one, two] = [house.submit(aTask('s')), house.submit(aTask('s'))]
  const [lostOne, lostTwo] = [house.fenceOf(one), house.fenceOf(two)]
  house.pass(13)
  house.join(aHello('x'))
  expect(house.fenceOf(session).attempt).toBe(2)
  house.run({ kind: 'returned', worker: 'w' })
  expect([house.stateOf(one), house.stateOf(two)]).toEqual(['queued', 'queued'])
  house.report('w', house.ended(lostOne, 'completed'))
  expect([house.stateOf(one), house.stateOf(two)]).toEqual(['succeeded', 'queued'])
  house.report('x', house.running(house.fenceOf(session)))
  expect(house.state.active.get(two)?.claim.worker).toBe('x')
  house.report('w', house.ended(lostTwo, 'completed'))
  expect(house.stateOf(two)).toBe('active')
  expect(house.state.sessions.get(session)?.places.size).toBe(1)
  expect(lostByRestart(house)).toBeNull()
})

it('offers a task again that its worker never took up, and loses those of a session it came back without', () => {
  const session = house.warm('s', { concurrency: 2 })
  const [taken, offered] = [house.submit(aTask('s')), house.submit(aTask('s'))]
  house.report('w', house.running(house.fenceOf(taken)))
  const holding = [session, taken].map(job => ({ fence: house.fenceOf(job), state: 'running' as const, startedAt: 0 }))
  const again = house.join(aHello('w', { holding, nextBatch: 3 }))
  expect(again.reoffer).toEqual([house.fenceOf(offered)])
  house.join(aHello('w', { bootId: 'boot-2', nextBatch: 3 }))
  expect([session, taken, offered].map(job => house.stateOf(job))).toEqual(['active', 'queued', 'queued'])
  expect(house.fenceOf(session).attempt).toBe(2)
  expect(house.state.workers.get('w')?.lost.size).toBe(0)
})

it('knows from a hello that a session runs, though nobody reported that', () => {
  const session = house.submit(aSession('s'))
  const task = house.submit(aTask('s'))
  const holding = [{ fence: house.fenceOf(session), state: 'running' as const, startedAt: 0 }]
  house.join(aHello('w', { holding }))
  expect([house.state.active.get(session)?.state, house.stateOf(task)]).toEqual(['running', 'active'])
  house.report('w', house.running(house.fenceOf(session)))
  expect(house.state.active.get(session)?.isolation).toBe('inline')
})

it('lets a session rest that declined a task, instead of asking it again at once', () => {
  house.warm('s')
  const task = house.submit(aTask('s'))
  house.report('w', { kind: 'declined', fence: house.fenceOf(task), at: 0, reason: 'no such session' })
  expect(house.stateOf(task)).toBe('queued')
  house.pass(2, ['w'])
  expect(house.stateOf(task)).toBe('active')
})
