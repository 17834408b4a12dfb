import { NO_LIMITS, type OwnerLimits } from '@stoker/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { NewJob } from '../engine/commands.ts'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { limitReason } from './limits.ts'

function limit(house: TestHouse, limits: Partial<OwnerLimits>): void {
  house.run({ kind: 'setLimits', owner: 'ann', limits: { ...NO_LIMITS, ...limits } })
}

function submitGroup(house: TestHouse, jobs: readonly NewJob[], maxParallel: number | null): number {
  const group = { id: `group-${jobs.length}`, name: 'g', first: 0, size: jobs.length, maxParallel, retryOf: null }
  return house.run({ kind: 'submit', owner: 'ann', jobs, groups: [group], key: null, failFast: false }).firstSeq
}

describe('limits of an owner', () => {
  it('keep jobs back and let them go as others end, on whatever worker has room', () => {
    const house = new TestHouse()
    house.join(aHello('cpu'))
    house.join(aHello('gpu', { gpus: 1, tags: ['gpu'] }))
    limit(house, { running: 1 })
    const first = house.submit(aJob({ placement: { worker: 'cpu' } }))
    const second = house.submit(aJob({ placement: { tags: ['gpu'] } }))
    expect([first, second].map(job => house.stateOf(job))).toEqual(['active', 'queued'])
    house.report('cpu', house.ended(house.fenceOf(first), 'completed'))
    expect(house.state.active.get(second)?.claim.worker).toBe('gpu')
  })

  it('are looked at again when they are raised', () => {
    const house = new TestHouse()
    house.join(aHello('w'))
    limit(house, { running: 0 })
    const job = house.submit(aJob())
    expect(house.stateOf(job)).toBe('queued')
    limit(house, {})
    expect(house.stateOf(job)).toBe('active')
  })

  it('count GPUs, and do not keep back what needs none', () => {
    const house = new TestHouse()
    house.join(aHello('w', { gpus: 4 }))
    limit(house, { gpus: 2 })
    const jobs = [1, 2, 0].map(gpus => house.submit(aJob({ resources: { gpus } })))
    expect(jobs.map(job => house.stateOf(job))).toEqual(['active', 'queued', 'active'])
    const waiting = house.state.buckets.get(house.state.queued.get(jobs[1] ?? 0)?.bucket ?? 0)
    if (waiting === undefined) throw new Error('the second job has no bucket')
    expect(limitReason(house.state, waiting)).toBe('needs 2 more to the 1 GPUs of ann in use, the limit is 2')
  })

  it('count a lost attempt until it is known to be over, so that its return exceeds nothing', () => {
    const house = new TestHouse()
    house.join(aHello('a'))
    house.join(aHello('b'))
    limit(house, { running: 1 })
    const first = house.submit(aJob({ placement: { worker: 'a' } }))
    const second = house.submit(aJob({ placement: { worker: 'b' } }))
    const fence = house.fenceOf(first)
    house.pass(13, ['b'])
    expect([first, second].map(job => house.stateOf(job))).toEqual(['queued', 'queued'])
    house.report('a', house.running(fence))
    expect(house.stateOf(first)).toBe('active')
  })
})

describe('maxParallel', () => {
  it('holds for each group on its own', () => {
    const house = new TestHouse()
    house.join(aHello('w', { maxJobs: 9 }))
    submitGroup(house, [aJob(), aJob(), aJob()], 2)
    submitGroup(house, [aJob(), aJob()], null)
    expect(house.state.active.size).toBe(4)
    const [first] = house.state.active.keys()
    house.report('w', house.ended(house.fenceOf(first ?? 0), 'completed'))
    expect(house.state.active.size).toBe(4)
  })
})

it('nothing ever runs above a limit, and nothing waits that may run', () => {
  const job = fc.record({ gpus: fc.integer({ min: 0, max: 2 }), isGrouped: fc.boolean() })
  fc.assert(
    fc.property(
      fc.array(fc.array(job, { minLength: 1, maxLength: 6 }), { maxLength: 6 }),
      fc.record({ running: fc.option(fc.nat(5)), gpus: fc.option(fc.nat(4)) }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(fc.nat(20), { maxLength: 25 }),
      (batches, limits, maxParallel, ends) => {
        const house = new TestHouse()
        house.join(aHello('w', { gpus: 8, maxJobs: 40 }))
        limit(house, limits)
        batches.forEach((jobs, at) => {
          const made = jobs.map(({ gpus }) => aJob({ resources: { gpus } }))
          if (jobs[0]?.isGrouped !== true) house.submit(...made)
          else submitNumbered(house, made, maxParallel, at)
          expectWithin(house)
        })
        for (const pick of ends) {
          const active = [...house.state.active.keys()]
          const seq = active[pick % Math.max(1, active.length)]
          if (seq !== undefined) house.report('w', house.ended(house.fenceOf(seq), 'completed'))
          expectWithin(house)
        }
      },
    ),
    { numRuns: 150 },
  )
})

function submitNumbered(house: TestHouse, jobs: readonly NewJob[], maxParallel: number, at: number): void {
  const group = { id: `group-${at}`, name: 'g', first: 0, size: jobs.length, maxParallel, retryOf: null }
  house.run({ kind: 'submit', owner: 'ann', jobs, groups: [group], key: null, failFast: false })
}

function expectWithin({ state }: TestHouse): void {
  const active = [...state.active.values()]
  const { running, gpus } = state.limits.get('ann') ?? NO_LIMITS
  expect(active.length).toBeLessThanOrEqual(running ?? Number.POSITIVE_INFINITY)
  expect(active.flatMap(({ claim }) => claim.gpus).length).toBeLessThanOrEqual(gpus ?? Number.POSITIVE_INFINITY)
  for (const group of state.groups.values()) {
    const members = active.filter(({ claim }) => claim.groupId === group.id)
    expect(members.length).toBeLessThanOrEqual(group.maxParallel ?? Number.POSITIVE_INFINITY)
    expect([group.claims, group.counts.active]).toEqual([members.length, members.length])
  }
  const free = 8 - active.flatMap(({ claim }) => claim.gpus).length
  for (const id of state.queued.buckets()) {
    const bucket = state.buckets.get(id)
    if (bucket === undefined || bucket.shape.gpus > free) continue
    expect(limitReason(state, bucket), `bucket ${id} fits and no limit holds it`).not.toBeNull()
  }
}
