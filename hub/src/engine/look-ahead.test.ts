import { type AttemptReport, fenceKey, type JobSpecInput } from '@stoker/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { countAhead } from './look-ahead.ts'
import { aHello, aJob } from './test-house.ts'
import { lostByRestart } from './test-restart.ts'
import { SessionHouse } from './test-session-house.ts'

let house: SessionHouse
beforeEach(() => {
  house = new SessionHouse()
  house.join(aHello('w'))
})
afterEach(() => expect(house.problems).toEqual([]))

const warm = (id: string, spec: JobSpecInput = {}, queue = 100) => house.warm(id, { queue }, spec)

const tasks = (count: number, task: NonNullable<JobSpecInput['task']>) =>
  Array.from({ length: count }, () => aJob({ type: 'task', task }))

function took(job: number, ms: number): AttemptReport {
  const { wall } = house.now
  const end = house.ended(house.fenceOf(job), 'completed')
  return end.kind === 'ended' ? { ...end, at: wall + ms, startedAt: wall } : end
}

/** So many tasks, one after the other, that took as long. */
function work(id: string, count: number, ms: number): void {
  for (let i = 0; i < count; i += 1) house.report('w', took(house.submit(...tasks(1, { session: id })), ms))
}

const held = (session: number) => house.state.sessions.get(session)?.places.size

it('gives a session whose tasks are short up to sixteen beyond its places, and one that was not heard none', () => {
  const session = warm('s')
  const first = house.submit(...tasks(20, { session: 's' }))
  expect(held(session)).toBe(1)
  for (let i = 0; i < 6; i += 1) house.report('w', took(first + i, 1))
  expect(held(session)).toBe(14)
  house.submit(...tasks(20, { session: 's' }))
  expect(held(session)).toBe(17)
  expect(lostByRestart(house)).toBeNull()
})

it('looks no further ahead once a task was long, and again after some short ones', () => {
  const session = warm('s')
  work('s', 6, 1)
  const first = house.submit(...tasks(40, { session: 's' }))
  expect(held(session)).toBe(17)
  house.report('w', took(first, 5000))
  expect(held(session)).toBe(16)
  for (let i = 1; i < 16; i += 1) house.report('w', took(first + i, 1))
  expect(held(session)).toBe(17)
})

it('gives nothing ahead while another session of the preset has a place, nor one that was told long ago to be ready', () => {
  const spec = { preset: 'm/p' }
  const [quick, other] = [warm('s', spec), warm('t', spec)]
  work('s', 6, 1)
  house.submit(...tasks(1, { preset: 'm/p' }))
  expect([held(quick), held(other)]).toEqual([1, 0])
  house.submit(...tasks(1, { preset: 'm/p' }))
  expect([held(quick), held(other)]).toEqual([1, 1])
  house.submit(...tasks(30, { preset: 'm/p' }))
  expect([held(quick), held(other)]).toEqual([17, 1])
})

it('takes back what a session gives back, without a loss and without a rest', () => {
  const session = warm('s')
  work('s', 6, 1)
  const first = house.submit(...tasks(3, { session: 's' }))
  const back = house.fenceOf(first + 2)
  house.report('w', { kind: 'declined', fence: back, at: house.now.wall, reason: 'no place' })
  expect(house.state.queued.get(first + 2)).toMatchObject({ attempts: 1, lost: 0 })
  expect(countAhead(house.state.sessions.get(session) ?? expect.fail())).toBe(1)
  house.report('w', took(first, 1), took(first + 1, 1))
  expect(fenceKey(house.fenceOf(first + 2))).not.toBe(fenceKey(back))
})

it('counts tasks given ahead as waiting when it turns others away', () => {
  warm('s', {}, 2)
  work('s', 6, 1)
  house.submit(...tasks(3, { session: 's' }))
  expect(() => house.submit(...tasks(1, { session: 's' }))).toThrow(
    'the session has 1 tasks in places and 2 in the queue; room is for 3, and 1 more came',
  )
})
