import { beforeEach, describe, expect, it } from 'vitest'
import { packed } from '../scheduler/packed.ts'
import { schedulingRules } from '../scheduler/rules.ts'
import { NO_FACTS } from './commands.ts'
import { Core } from './core.ts'
import { carryLiveness } from './liveness.ts'
import { emptyState } from './state.ts'
import { aHello, aJob, TestHouse } from './test-house.ts'
import { restarted } from './test-restart.ts'

let house: TestHouse
beforeEach(() => {
  house = new TestHouse()
})

const hello = (id: string, rest: Parameters<typeof aHello>[1] = {}) =>
  ({ kind: 'hello', hello: aHello(id, rest), secretHash: `secret-${id}`, joinHash: null }) as const

describe('a worker that comes back', () => {
  it('gets nothing new before its new connection is open', () => {
    house.join(aHello('w'))
    house.run(hello('w'))
    const job = house.submit(aJob())
    expect(house.stateOf(job)).toBe('queued')
  })

  it('has taken up what it holds, though no report said so', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ command: 'x' }))
    house.run(hello('w', { holding: [{ fence: house.fenceOf(job), state: 'running', startedAt: 1 }] }))
    expect(house.state.active.get(job)?.state).toBe('starting')
  })

  it('after a long silence, with an attempt that ended meanwhile, is asked for its end and given no new one', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ command: 'x' }))
    const fence = house.fenceOf(job)
    house.report('w', { kind: 'running', fence, at: house.now.wall, isolation: 'none' })
    house.pass(20, [])
    expect(house.stateOf(job)).toBe('queued')
    house.run(hello('w', { holding: [{ fence, state: 'ended', startedAt: 1 }] }))
    house.pass(1, ['w'])
    expect(house.fenceOf(job)).toEqual(fence)
    house.report('w', house.ended(fence, 'completed'))
    expect(house.stateOf(job)).toBe('succeeded')
  })

  it('unchanged to a hub that was started anew is nothing to write down', () => {
    house.join(aHello('w', { gpus: 2, tags: ['a'] }))
    const core = new Core(restarted(house), packed, schedulingRules)
    core.execute(hello('w', { gpus: 2, tags: ['a'] }), NO_FACTS, house.now)
    expect(core.finish(house.now)).toBeNull()
    core.execute(hello('w', { gpus: 2, tags: ['b'] }), NO_FACTS, house.now)
    expect(core.finish(house.now)?.changes).toMatchObject([{ c: 'worker', tags: ['b'] }])
  })

  it('with a wrong secret does not move the epoch', () => {
    house.join(aHello('w'))
    const { epoch } = house.state
    expect(() => house.run({ ...hello('w', { epochSeen: epoch + 5 }), secretHash: 'wrong' })).toThrow(/another secret/)
    expect(house.state.epoch).toBe(epoch)
  })
})

it('a device given back by one worker starts a job that waits for it on another', () => {
  const shared = aHello('w1', { gpus: 1 })
  house.join(shared)
  const first = house.submit(aJob({ command: 'x', resources: { gpus: 1 } }))
  house.join({ ...aHello('w2'), hardware: shared.hardware })
  house.run({ kind: 'drain', worker: 'w1', on: true })
  const second = house.submit(aJob({ command: 'x', resources: { gpus: 1 } }))
  expect(house.stateOf(second)).toBe('queued')
  house.report('w1', house.ended(house.fenceOf(first), 'completed'))
  expect(house.stateOf(second)).toBe('active')
})

it('a worker whose removal was not written counts as connected until its silence tells otherwise', () => {
  house.join(aHello('w'))
  const before = emptyState()
  house.state.workers.forEach(worker => {
    worker.connected = false
  })
  carryLiveness(before, house.state)
  expect(house.state.workers.get('w')?.connected).toBe(true)
})
