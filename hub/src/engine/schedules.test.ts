import { Refused } from '@stoker/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import type { Command } from './commands.ts'
import { dump } from './dump.ts'
import { aHello, aJob, TestHouse } from './test-house.ts'

type Put = Extract<Command, { kind: 'putSchedule' }>
type Fire = Extract<Command, { kind: 'fire' }>

let house: TestHouse
beforeEach(() => {
  house = new TestHouse()
})

function put(over: Partial<Put> = {}): void {
  house.run({
    kind: 'putSchedule',
    ...{ id: 's', owner: 'ann', name: 'nightly', cron: '* * * * *', timezone: 'UTC', spec: '{}', enabled: true },
    ...{ overlap: 'skip', catchUp: 'none', nextAt: 1000 },
    ...over,
  })
}

function fire(over: Partial<Fire> = {}) {
  const plain = { dueAt: 1000, nextAt: 2000, jobs: [aJob()], groups: [], missed: null, refused: null }
  return house.run({ kind: 'fire', schedule: 's', ...plain, ...over }).outcome
}

const schedule = () => house.state.schedules.get('s')

describe('a schedule', () => {
  it('fires a due time once, with its job in the same commit', () => {
    put()
    expect(fire()).toBe('submitted')
    expect(house.lastChanges.map(change => change.c)).toEqual(['bucket', 'submitted', 'fired'])
    expect(fire()).toBeNull()
    expect(house.state.queued.size).toBe(1)
    expect(schedule()).toMatchObject({ nextAt: 2000, runs: 1, lastSeq: 1, lastOutcome: 'submitted' })
  })

  it('does not fire while it is paused, nor a time it does not wait for', () => {
    put({ enabled: false })
    expect(fire()).toBeNull()
    put({ nextAt: 3000 })
    expect(fire({ dueAt: 1000 })).toBeNull()
    expect(house.state.queued.size).toBe(0)
  })

  it('leaves a run out while the one before goes on, and says which', () => {
    put()
    fire()
    expect(fire({ dueAt: 2000, nextAt: 3000 })).toBe('skipped')
    expect(schedule()).toMatchObject({ nextAt: 3000, runs: 1, lastSeq: 1, lastOutcome: 'skipped' })
    expect(schedule()?.lastReason).toContain('has not ended; overlap is "skip"')
    house.run({ kind: 'cancel', job: 1, by: 'ann' })
    expect(fire({ dueAt: 3000, nextAt: 4000 })).toBe('submitted')
  })

  it('knows a group as its last run until the last member has ended', () => {
    put()
    const jobs = [aJob(), aJob()]
    fire({ jobs, groups: [{ id: 'g', name: 'g', first: 0, size: 2, maxParallel: null, retryOf: null }] })
    house.run({ kind: 'cancel', job: 1, by: 'ann' })
    expect(fire({ dueAt: 2000 })).toBe('skipped')
    house.run({ kind: 'cancel', job: 2, by: 'ann' })
    put({ nextAt: 3000 })
    expect(fire({ dueAt: 3000 })).toBe('submitted')
  })

  it('ends the run before, or lets it be, as its overlap says', () => {
    put({ overlap: 'replace' })
    fire()
    expect(fire({ dueAt: 2000, nextAt: 3000 })).toBe('submitted')
    expect(house.stateOf(1)).toBe('canceled')
    put({ overlap: 'allow', nextAt: 3000 })
    expect(fire({ dueAt: 3000, nextAt: 4000 })).toBe('submitted')
    expect(house.state.queued.size).toBe(2)
  })

  it('records what was missed or refused, and goes on', () => {
    put()
    expect(fire({ jobs: [], missed: 'three times passed' })).toBe('missed')
    expect(schedule()).toMatchObject({ lastOutcome: 'missed', lastReason: 'three times passed', nextAt: 2000, runs: 0 })
    const limits = { queued: 0, running: null, gpus: null, bytes: null }
    house.run({ kind: 'setLimits', owner: 'ann', limits })
    expect(fire({ dueAt: 2000, nextAt: 3000 })).toBe('refused')
    expect(schedule()?.lastReason).toBe('ann has 0 jobs queued and submits 1; the limit is 0')
  })

  it('records a task without a session and a job without its secret as refused, and leaves the run before alone', () => {
    put({ overlap: 'replace' })
    expect(fire()).toBe('submitted')
    const task = aJob({ type: 'task', task: { session: 'gone' } })
    expect(fire({ dueAt: 2000, nextAt: 3000, jobs: [task] })).toBe('refused')
    expect(schedule()).toMatchObject({ lastReason: expect.stringContaining('gone'), nextAt: 3000, runs: 1 })
    expect(fire({ dueAt: 3000, nextAt: 4000, jobs: [aJob({ command: 'x', secrets: ['none'] })] })).toBe('refused')
    expect(schedule()).toMatchObject({ lastReason: expect.stringContaining('none'), nextAt: 4000, runs: 1 })
    expect(house.state.queued.size).toBe(1)
  })

  it('runs when asked without moving its next time, but not over a run that goes on', () => {
    put({ enabled: false, nextAt: null })
    expect(fire({ dueAt: null })).toBe('submitted')
    expect(schedule()).toMatchObject({ nextAt: null, runs: 1 })
    expect(() => fire({ dueAt: null })).toThrow(Refused)
  })

  it('has a name of its own among those of its owner', () => {
    put()
    expect(() => put({ id: 's2' })).toThrow('ann has a schedule named "nightly" already, with the id s')
    put({ id: 's2', owner: 'bob' })
    house.run({ kind: 'removeSchedule', id: 's' })
    expect(() => house.run({ kind: 'removeSchedule', id: 's' })).toThrow('no schedule has the id s')
  })
})

it('a group keeps its counts in memory only while a member lives, and costs a queued member nothing', () => {
  house.join(aHello('w', { maxJobs: 1 }))
  const jobs = [aJob(), aJob()]
  const groups = [{ id: 'g', name: 'g', first: 0, size: 2, maxParallel: null, retryOf: null }]
  house.run({ kind: 'submit', owner: 'ann', jobs, groups, key: null, failFast: false })
  expect(house.state.groups.get('g')?.counts).toMatchObject({ active: 1, queued: 1 })
  for (const job of [1, 2]) house.report('w', house.ended(house.fenceOf(job), 'completed'))
  expect(house.state.groups.size).toBe(0)
  expect(dump(house.state)).toMatchObject({ groups: {}, ownerUses: { ann: { now: { slots: 0 } } } })
  const last = house.journal.at(-1)?.commit.rows.find(row => row.table === 'jobGroup')
  expect(last).toMatchObject({ op: 'update', key: { id: 'g' }, set: { succeeded: 2, active: 0, endedAt: 1_000_000 } })
  expect(() => house.run({ kind: 'cancelGroup', group: 'g', by: 'ann' })).toThrow('all jobs of group g have ended')
})
