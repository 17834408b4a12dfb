import { afterEach, beforeEach, expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './test-house.ts'
import { lostByRestart } from './test-restart.ts'
import { aPresetTask, aSession, aTask, SessionHouse } from './test-session-house.ts'

let house: SessionHouse
beforeEach(() => {
  house = new SessionHouse()
  house.join(aHello('w'))
})
afterEach(() => expect(house.problems).toEqual([]))

function reasonOf(job: number): string | null {
  const ends = house.journal.flatMap(({ changes }) => changes)
  const end = ends.findLast(change => 'job' in change && change.job === job && 'reason' in change)
  return end !== undefined && 'reason' in end ? (end.reason ?? null) : null
}

it('gives tasks to a running session, as many as it has places, and takes nothing of its worker for them', () => {
  const session = house.warm('s', { concurrency: 2 })
  const before = { ...house.state.workers.get('w') }
  const first = house.submit(aTask('s'), aTask('s'), aTask('s'))
  expect([0, 1, 2].map(n => house.stateOf(first + n))).toEqual(['active', 'active', 'queued'])
  expect(house.state.active.get(first)?.claim).toMatchObject({ worker: 'w', session: house.fenceOf(session) })
  const { slotsFree, cpusMilliFree, memoryMbFree, leased } = before
  expect(house.state.workers.get('w')).toMatchObject({ slotsFree, cpusMilliFree, memoryMbFree, leased })
  expect(lostByRestart(house)).toBeNull()
  house.report('w', house.ended(house.fenceOf(first), 'completed'))
  expect([house.stateOf(first), house.stateOf(first + 2)]).toEqual(['succeeded', 'active'])
  expect(lostByRestart(house)).toBeNull()
})

it('places nothing in a session that is queued or starting, and everything once it runs', () => {
  house.submit(aJob({ command: 'x', resources: { cpus: 4 } }))
  const session = house.submit(aSession('s'))
  const task = house.submit(aTask('s'))
  expect([house.stateOf(session), house.stateOf(task)]).toEqual(['queued', 'queued'])
  house.report('w', house.ended(house.fenceOf(1), 'completed'))
  expect([house.stateOf(session), house.stateOf(task)]).toEqual(['active', 'queued'])
  house.report('w', house.running(house.fenceOf(session)))
  expect(house.stateOf(task)).toBe('active')
})

it('refuses tasks for sessions that are unknown, of another owner, full or on their way out', () => {
  const session = house.warm('s', { queue: 1 })
  const refusal = (...args: Parameters<TestHouse['submitAs']>) => {
    try {
      house.submitAs(...args)
      return null
    } catch (error) {
      return (error as { code: string }).code
    }
  }
  expect(refusal('ann', aTask('other'))).toBe('session.not_found')
  expect(refusal('bob', aTask('s'))).toBe('session.not_found')
  expect(refusal('ann', aPresetTask('none/none'))).toBe('preset.not_found')
  expect(refusal('ann', aTask('s'), aTask('s'), aTask('s'))).toBe('session.full')
  expect(refusal('ann', aTask('s'), aTask('s'))).toBeNull()
  expect(refusal('ann', aTask('s'))).toBe('session.full')
  house.run({ kind: 'endSession', job: session, reason: 'manual' })
  expect(refusal('ann', aTask('s'))).toBe('session.not_found')
})

it('lets an admin use the session of another owner', () => {
  house.warm('s')
  house.run({ kind: 'submit', owner: 'bob', jobs: [aTask('s')], key: null, failFast: false, isAdmin: true })
  expect(house.state.sessions.get(1)?.places.size).toBe(1)
})

it('shares sessions of a preset among owners: ready ones first, then the least busy', () => {
  const preset = { preset: 'm/p' }
  const first = house.warm('a', { concurrency: 2 }, preset)
  const second = house.warm('b', { concurrency: 2 }, preset)
  const third = house.submit(aSession('c', {}, preset))
  house.report('w', house.running(house.fenceOf(third)))
  const tasks = Array.from({ length: 5 }, () => house.submitAs('bob', aPresetTask('m/p')))
  const hosts = tasks.map(task => house.state.active.get(task)?.claim.session?.job)
  expect(hosts).toEqual([first, second, first, second, third])
})

it('takes the highest priority first, then the oldest task', () => {
  const session = house.warm('s')
  const [busy, low, high] = [0, 0, 5].map(priority => house.submit(aTask('s', { priority })))
  house.report('w', house.ended(house.fenceOf(busy ?? 0), 'completed'))
  expect([house.stateOf(low ?? 0), house.stateOf(high ?? 0)]).toEqual(['queued', 'active'])
  expect(house.state.sessions.get(session)?.places.size).toBe(1)
})

it('ends a session that waited too long without a task; tasks and keepalive put that off', () => {
  const session = house.warm('s', { idleTimeout: '10s' })
  house.pass(8, ['w'])
  house.run({ kind: 'keepSession', job: session })
  house.pass(8, ['w'])
  expect(house.state.active.get(session)?.state).toBe('running')
  const task = house.submit(aTask('s'))
  house.pass(20, ['w'])
  expect(house.state.active.get(session)?.state).toBe('running')
  house.report('w', house.ended(house.fenceOf(task), 'completed'))
  house.pass(12, ['w'])
  expect(house.state.active.get(session)).toMatchObject({ state: 'stopping', cancelBy: 'idle_timeout' })
  house.report('w', house.ended(house.fenceOf(session), 'completed'))
  expect([house.stateOf(session), reasonOf(session)]).toEqual(['succeeded', 'idle_timeout'])
  expect(lostByRestart(house)).toBeNull()
})

it('lets a session of a changed preset finish what it has, gives it no more, and ends it', () => {
  const old = house.warm('s', { concurrency: 1 }, { preset: 'm/p' })
  const busy = house.submit(aPresetTask('m/p'))
  expect(house.run({ kind: 'outdateSession', job: old })).toEqual({ effect: 'working' })
  const own = house.submit(aTask('s'))
  const next = house.submitAs('ann', { ...aPresetTask('m/p'), presetQueue: 9 })
  house.report('w', house.ended(house.fenceOf(busy), 'completed'))
  expect([house.stateOf(own), house.stateOf(next)]).toEqual(['active', 'queued'])
  house.report('w', house.ended(house.fenceOf(own), 'completed'))
  house.pass(1, ['w'])
  expect(house.state.active.get(old)).toMatchObject({ state: 'stopping', cancelBy: 'preset_changed' })
  const fresh = house.warm('t', {}, { preset: 'm/p' })
  expect(house.state.active.get(next)?.claim.session?.job).toBe(fresh)
  house.report('w', house.ended(house.fenceOf(old), 'completed'))
  expect([house.stateOf(old), reasonOf(old)]).toEqual(['succeeded', 'preset_changed'])
})

it('ends an outdated session at once if it has nothing to do, or has not started', () => {
  const idle = house.warm('s', {}, { preset: 'm/p' })
  expect(house.run({ kind: 'outdateSession', job: idle })).toEqual({ effect: 'stopping' })
  const queued = house.submit(aSession('t', {}, { preset: 'm/p', resources: { cpus: 900 } }))
  expect(house.run({ kind: 'outdateSession', job: queued })).toEqual({ effect: 'ended' })
  expect([house.stateOf(queued), reasonOf(queued)]).toEqual(['canceled', 'preset_changed'])
})

it('never ends a session for idleness before it was ready', () => {
  const session = house.submit(aSession('s', { idleTimeout: '2s' }))
  house.report('w', house.running(house.fenceOf(session)))
  house.pass(10, ['w'])
  expect(house.state.active.get(session)?.state).toBe('running')
})

it('ends a session after its lifetime, at work or not, and fails what waited for it alone', () => {
  const session = house.warm('s', { maxLifetime: '10s', idleTimeout: '1h' })
  const [placed, waiting] = [house.submit(aTask('s')), house.submit(aTask('s'))]
  house.pass(11, ['w'])
  expect(house.state.active.get(session)?.cancelBy).toBe('max_lifetime')
  expect(lostByRestart(house)).toBeNull()
  house.report(
    'w',
    house.ended(house.fenceOf(placed), 'failed', 'session ended: max_lifetime'),
    house.ended(house.fenceOf(session), 'completed'),
  )
  expect([placed, waiting].map(job => house.stateOf(job))).toEqual(['failed', 'failed'])
  expect(reasonOf(waiting)).toBe('session ended: max_lifetime')
  expect([house.state.sessions.size, house.state.targets.size]).toEqual([0, 0])
  expect(lostByRestart(house)).toBeNull()
})

it('fails a task that is let go after its session has ended, and tasks of a session that never started', () => {
  const session = house.warm('s')
  const held = house.submit(aTask('s', { hold: true }))
  house.run({ kind: 'endSession', job: session, reason: 'manual' })
  house.report('w', house.ended(house.fenceOf(session), 'completed'))
  expect(reasonOf(session)).toBe('manual')
  house.run({ kind: 'release', job: held, by: 'ann' })
  expect(house.stateOf(held)).toBe('failed')
  const never = house.submit(aSession('never', {}, { placement: { worker: 'nobody' } }))
  const task = house.submit(aTask('never'))
  expect(house.run({ kind: 'endSession', job: never, reason: 'manual' })).toEqual({ effect: 'ended' })
  expect([house.stateOf(never), house.stateOf(task), reasonOf(task)]).toEqual([
    'canceled',
    'failed',
    'session ended: manual',
  ])
})

it('keeps tasks of a preset for another session when one ends', () => {
  const preset = { preset: 'm/p' }
  const session = house.warm('a', {}, preset)
  const [busy, waiting] = [house.submit(aPresetTask('m/p')), house.submit(aPresetTask('m/p'))]
  house.report(
    'w',
    house.ended(house.fenceOf(busy), 'failed', 'exited with code 1'),
    house.ended(house.fenceOf(session), 'failed', 'exited with code 1'),
  )
  expect([house.stateOf(session), house.stateOf(waiting)]).toEqual(['failed', 'queued'])
  house.warm('b', {}, preset)
  expect(house.stateOf(waiting)).toBe('active')
})

it('drops the least recently used idle session when a job needs its GPU, and no session that works', () => {
  house.join(aHello('g', { gpus: 2 }))
  const gpu = { resources: { gpus: 1 } }
  const [old, young] = [house.warm('old', {}, gpu, 'g'), house.warm('young', {}, gpu, 'g')]
  house.pass(1, ['w', 'g'])
  house.report('g', house.ended(taskIn('young'), 'completed'))
  const job = house.submit(aJob({ command: 'train', ...gpu }))
  house.pass(3, ['w', 'g'])
  expect([house.state.active.get(old)?.cancelBy, house.state.active.get(young)?.cancelBy]).toEqual(['evicted', null])
  house.report('g', house.ended(house.fenceOf(old), 'completed'))
  expect([house.stateOf(job), reasonOf(old)]).toEqual(['active', 'evicted'])
  const busy = house.submit(aTask('young'))
  house.submit(aJob({ command: 'train', ...gpu }))
  house.pass(5, ['w', 'g'])
  expect(house.state.active.get(young)?.cancelBy).toBeNull()
  expect(house.stateOf(busy)).toBe('active')
})

function taskIn(session: string) {
  return house.fenceOf(house.submit(aTask(session)))
}

it('starts no session to be warm at the cost of another that is', () => {
  house.join(aHello('g', { gpus: 1 }))
  const warmOne = house.warm('a', {}, { preset: 'm/a', resources: { gpus: 1 } }, 'g')
  house.submit(aSession('b', {}, { preset: 'm/b', resources: { gpus: 1 } }))
  house.pass(5, ['w', 'g'])
  expect(house.state.active.get(warmOne)?.cancelBy).toBeNull()
  house.submit(aPresetTask('m/b'))
  house.pass(2, ['w', 'g'])
  expect(house.state.active.get(warmOne)?.cancelBy).toBe('evicted')
})

it('asks idle sessions of a drained worker to leave, and sends tasks of their preset elsewhere', () => {
  house.join(aHello('x'))
  const preset = { preset: 'm/p' }
  const session = house.warm('a', {}, { ...preset, placement: { worker: 'w' } })
  const other = house.warm('b', {}, { ...preset, placement: { worker: 'x' } }, 'x')
  house.run({ kind: 'drain', worker: 'w', on: true })
  const [own, shared] = [house.submit(aTask('a')), house.submit(aPresetTask('m/p'))]
  expect(house.state.active.get(own)?.claim.session?.job).toBe(session)
  expect(house.state.active.get(shared)?.claim.session?.job).toBe(other)
  house.report('w', house.ended(house.fenceOf(own), 'completed'))
  house.pass(3, ['w', 'x'])
  expect(house.state.active.get(session)?.cancelBy).toBe('shutdown')
})

it('puts no session on a worker that speaks an older protocol, and says so', () => {
  const old = new TestHouse()
  old.join(aHello('w', { protocol: { major: 1, minor: 1 } }))
  const reply = old.run({ kind: 'submit', owner: 'ann', jobs: [aSession('s')], key: null, failFast: false })
  expect(reply.unschedulable[0]).toContain('needs to be kept as a session')
  expect(old.stateOf(1)).toBe('queued')
})

it('gives a group of tasks no more places than its maxParallel', () => {
  house.warm('s', { concurrency: 4, queue: 10 })
  const group = { id: 'g', name: 'g', first: 0, size: 3, maxParallel: 1, retryOf: null }
  const jobs = [aTask('s'), aTask('s'), aTask('s')]
  const { firstSeq } = house.run({ kind: 'submit', owner: 'ann', jobs, groups: [group], key: null, failFast: false })
  expect([0, 1, 2].map(n => house.stateOf(firstSeq + n))).toEqual(['active', 'queued', 'queued'])
  house.report('w', house.ended(house.fenceOf(firstSeq), 'completed'))
  expect([1, 2].map(n => house.stateOf(firstSeq + n))).toEqual(['active', 'queued'])
})

it('says worker_exited for a program that leaves by itself', () => {
  const session = house.warm('s')
  house.report('w', house.ended(house.fenceOf(session), 'completed'))
  expect([house.stateOf(session), reasonOf(session)]).toEqual(['succeeded', 'worker_exited'])
})

it('withdraws a task that waits, and leaves one alone that has a place', () => {
  house.warm('s')
  const first = house.submit(aTask('s'), aTask('s'))
  const withdraw = (job: number) => house.run({ kind: 'withdraw', job, by: 'ann' }).effect
  expect([withdraw(first), withdraw(first + 1), withdraw(first + 1)]).toEqual(['running', 'canceled', 'ended'])
  expect([house.stateOf(first), house.stateOf(first + 1)]).toEqual(['active', 'canceled'])
  expect(house.state.active.get(first)?.cancelBy).toBeNull()
})
