import { beforeEach, describe, expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './test-house.ts'

let house: TestHouse
beforeEach(() => {
  house = new TestHouse()
})

describe('a lease', () => {
  it('expires after 12 s of silence for a young attempt', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.report('w', house.running(house.fenceOf(job)))
    house.pass(11)
    expect(house.stateOf(job)).toBe('active')
    house.pass(1)
    expect(house.stateOf(job)).toBe('queued')
  })

  it('grows with the time already run, to ten minutes at most', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.report('w', house.running(house.fenceOf(job)))
    house.pass(1000, ['w'])
    house.pass(51)
    expect(house.stateOf(job)).toBe('active')
    house.pass(2)
    expect(house.stateOf(job)).toBe('queued')
  })

  it('is as long as the job asks', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ lostAfter: '3s' }))
    house.pass(3)
    expect(house.stateOf(job)).toBe('queued')
  })

  it('is renewed by any word of the worker', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.report('w', house.running(house.fenceOf(job)))
    house.pass(60, ['w'])
    expect(house.stateOf(job)).toBe('active')
  })
})

describe('a lost attempt', () => {
  function losing(): number {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.report('w', house.running(house.fenceOf(job)))
    house.pass(12)
    return job
  }

  it('goes on if its worker returns before another placement', () => {
    const job = losing()
    const fence = { job, epoch: 100, attempt: 1 }
    const reply = house.join(aHello('w', { holding: [{ fence, state: 'running', startedAt: 1 }] }))
    expect(reply.stale).toEqual([])
    expect(house.fenceOf(job)).toEqual(fence)
    house.report('w', house.ended(fence, 'completed'))
    expect(house.stateOf(job)).toBe('succeeded')
  })

  it('goes on by a mere report too, when the connection never broke', () => {
    const job = losing()
    const fence = { job, epoch: 100, attempt: 1 }
    expect(house.report('w', house.ended(fence, 'completed')).stale).toEqual([])
    expect(house.stateOf(job)).toBe('succeeded')
  })

  it('goes on when its worker is merely heard again', () => {
    const job = losing()
    house.run({ kind: 'returned', worker: 'w' })
    expect(house.fenceOf(job)).toEqual({ job, epoch: 100, attempt: 1 })
  })

  it('is not placed again on the worker that is silent', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ lostAfter: '1s' }))
    house.pass(5)
    expect(house.stateOf(job)).toBe('queued')
    house.pass(1, ['w'])
    expect(house.stateOf(job)).toBe('active')
  })

  it('is stale once another placement is committed, and its result changes nothing', () => {
    const job = losing()
    house.join(aHello('other'))
    expect(house.fenceOf(job).attempt).toBe(2)
    const old = { job, epoch: 100, attempt: 1 }
    const reply = house.join(aHello('w', { holding: [{ fence: old, state: 'running', startedAt: 1 }] }))
    expect(reply.stale).toEqual([old])
    house.report('w', house.ended(old, 'completed'))
    expect(house.stateOf(job)).toBe('active')
    expect(house.fenceOf(job).attempt).toBe(2)
  })

  it('keeps its resources claimed until its worker says it is over', () => {
    house.join(aHello('w', { gpus: 1 }))
    const job = house.submit(aJob({ resources: { gpus: 1 } }))
    house.report('w', house.running(house.fenceOf(job)))
    house.pass(12)
    house.join(aHello('other', { gpus: 1 }))
    expect(house.fenceOf(job).attempt).toBe(2)
    const next = house.submit(aJob({ resources: { gpus: 1 } }))
    const old = { job, epoch: 100, attempt: 1 }
    house.join(aHello('w', { gpus: 1, holding: [{ fence: old, state: 'running', startedAt: 1 }] }))
    expect(house.stateOf(next)).toBe('queued')
    house.report('w', house.ended(old, 'canceled'))
    expect(house.stateOf(next)).toBe('active')
  })

  it('does not count against the retries, but five of them fail the job', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    for (let i = 1; i <= 5; i += 1) {
      expect(house.fenceOf(job).attempt).toBe(i)
      house.report('w', house.ended(house.fenceOf(job), 'lost', 'its keeper vanished'))
      house.pass(10, ['w'])
    }
    expect(house.stateOf(job)).toBe('failed')
    expect(house.lastChanges).toContainEqual(
      expect.objectContaining({ reason: expect.stringMatching(/lost 5 attempts.*its keeper vanished/) }),
    )
  })

  it('that its own worker tells of goes to another one rather than back to where it was lost', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.join(aHello('other'))
    house.report('w', house.ended(house.fenceOf(job), 'lost', 'its worker was shut down'))
    expect(house.state.active.get(job)?.claim).toMatchObject({ worker: 'other', attempt: 2 })
  })

  it('ends the job as canceled if that was asked before', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.run({ kind: 'cancel', job, by: 'ann' })
    house.pass(12)
    expect(house.stateOf(job)).toBe('canceled')
  })
})
