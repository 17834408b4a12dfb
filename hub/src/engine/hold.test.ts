import { beforeEach, describe, expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './test-house.ts'
import { lostByRestart } from './test-restart.ts'

let house: TestHouse
beforeEach(() => {
  house = new TestHouse()
})

const hold = (job: number) => house.run({ kind: 'hold', job, by: 'bea' }).effect
const release = (job: number) => house.run({ kind: 'release', job, by: 'bea' }).effect
const setPriority = (job: number, priority: number) => house.run({ kind: 'setPriority', job, priority }).effect

describe('a held job', () => {
  it('is never placed until it is released, and then keeps its age', () => {
    const first = house.submit(aJob({ hold: true }), aJob())
    expect(house.state.waiting.get(first)).toMatchObject({ heldBy: 'ann' })
    expect(lostByRestart(house)).toBeNull()
    house.join(aHello('w', { maxJobs: 1 }))
    expect([first, first + 1].map(job => house.stateOf(job))).toEqual(['waiting', 'active'])
    const younger = house.submit(aJob())
    expect(release(first)).toBe('done')
    house.report('w', house.ended(house.fenceOf(first + 1), 'completed'))
    expect([first, younger].map(job => house.stateOf(job))).toEqual(['active', 'queued'])
    expect(lostByRestart(house)).toBeNull()
  })

  it('was queued before, names who held it first, and may be held and released twice', () => {
    const job = house.submit(aJob())
    expect(hold(job)).toBe('done')
    expect(house.run({ kind: 'hold', job, by: 'carl' })).toEqual({ effect: 'done' })
    expect(house.state.waiting.get(job)?.heldBy).toBe('bea')
    expect(house.state.counters.get('ann')).toMatchObject({ waiting: 1, queued: 0 })
    expect([release(job), release(job)]).toEqual(['done', 'done'])
    expect(house.stateOf(job)).toBe('queued')
    expect(lostByRestart(house)).toBeNull()
  })

  it('needs its dependencies and its release, in either order', () => {
    const other = house.submit(aJob({}, 'a'))
    const dependencies = new Map([['a', { id: 'a', seq: other, owner: 'ann', state: 'queued' as const }]])
    const jobs = [1, 2].map(() => aJob({ hold: true, dependsOn: ['a'] }))
    const { firstSeq } = house.run({ kind: 'submit', owner: 'ann', jobs, key: null, failFast: false }, { dependencies })
    release(firstSeq)
    expect(house.stateOf(firstSeq)).toBe('waiting')
    house.join(aHello('w'))
    house.report('w', house.ended(house.fenceOf(other), 'completed'))
    expect([0, 1].map(n => house.stateOf(firstSeq + n))).toEqual(['active', 'waiting'])
    release(firstSeq + 1)
    expect(house.stateOf(firstSeq + 1)).toBe('active')
    expect(lostByRestart(house)).toBeNull()
  })

  it('between two attempts stays held when its backoff is over', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ retries: 1 }))
    house.report('w', house.ended(house.fenceOf(job), 'failed'))
    hold(job)
    house.pass(3, ['w'])
    expect(house.state.waiting.get(job)).toMatchObject({ heldBy: 'bea', dueAt: null })
    expect(lostByRestart(house)).toBeNull()
    release(job)
    expect(house.stateOf(job)).toBe('active')
  })

  it('released during its backoff still waits for the end of that', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ retries: { max: 1, backoff: { initial: '10s' } } }))
    house.report('w', house.ended(house.fenceOf(job), 'failed'))
    hold(job)
    release(job)
    expect(house.stateOf(job)).toBe('waiting')
    house.pass(11, ['w'])
    expect(house.stateOf(job)).toBe('active')
  })
})

describe('a change of priority', () => {
  it('moves a queued or waiting job before others, and changes its place by age among its new equals', () => {
    const [a, b, c, d] = [1, 2, 3, 4].map(() => house.submit(aJob())) as [number, number, number, number]
    hold(d)
    expect([setPriority(c, 10), setPriority(b, 10), setPriority(d, 20)]).toEqual(['done', 'done', 'done'])
    expect(lostByRestart(house)).toBeNull()
    release(d)
    house.join(aHello('w', { maxJobs: 1 }))
    const order = []
    for (let n = 0; n < 4; n += 1) {
      const [active] = house.state.active.keys()
      order.push(active)
      if (active !== undefined) house.report('w', house.ended(house.fenceOf(active), 'completed'))
    }
    expect(order).toEqual([d, b, c, a])
    expect([...house.state.buckets.values()].every(({ live }) => live === 0)).toBe(true)
    expect(lostByRestart(house)).toBeNull()
  })

  it('to what it is already changes nothing', () => {
    const job = house.submit(aJob())
    const commits = house.journal.length
    expect(setPriority(job, 0)).toBe('done')
    expect(house.journal.length).toBe(commits)
  })
})

it('an active or ended job cannot be held, released or given another priority', () => {
  house.join(aHello('w'))
  const job = house.submit(aJob())
  expect([hold(job), release(job), setPriority(job, 3)]).toEqual(['active', 'active', 'active'])
  house.report('w', house.ended(house.fenceOf(job), 'completed'))
  expect([hold(job), release(job), setPriority(job, 3)]).toEqual(['ended', 'ended', 'ended'])
})
