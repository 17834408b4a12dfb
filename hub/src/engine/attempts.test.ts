import { Refused } from '@stoker/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from './test-house.ts'

let house: TestHouse
beforeEach(() => {
  house = new TestHouse()
})

describe('the way of a job', () => {
  it('is submitted and placed in one commit, runs, and succeeds', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    expect(house.lastChanges.map(c => c.c)).toEqual(['bucket', 'submitted', 'placed'])
    house.report('w', house.running(house.fenceOf(job)))
    house.report('w', house.ended(house.fenceOf(job), 'completed'))
    expect(house.stateOf(job)).toBe('succeeded')
    expect(house.state.active.size + house.state.queued.size).toBe(0)
    expect(house.state.counters.get('ann')).toMatchObject({ queued: 0, active: 0, succeeded: 1 })
  })

  it('waits until a worker joins', () => {
    const job = house.submit(aJob())
    expect(house.stateOf(job)).toBe('queued')
    house.join(aHello('w'))
    expect(house.stateOf(job)).toBe('active')
  })

  it('may be told in a single report', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    const fence = house.fenceOf(job)
    house.report('w', house.running(fence), house.ended(fence, 'completed'))
    expect(house.stateOf(job)).toBe('succeeded')
  })

  it('is journaled with what its end has, and nothing else', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.report('w', house.ended(house.fenceOf(job), 'completed'))
    expect(house.journal.at(-1)?.commit.journal?.body).not.toContain('null')
    const row = house.journal.at(-1)?.commit.rows.find(write => write.op === 'update' && write.table === 'job')
    expect(row).toMatchObject({
      set: { signal: null, error: null, note: null, usage: null, dueAt: null, reason: null },
    })
  })

  it('gives resources back only when the attempt has ended', () => {
    house.join(aHello('w', { cpus: 1 }))
    const [first, second] = [house.submit(aJob({ command: 'a' })), house.submit(aJob({ command: 'b' }))]
    expect([house.stateOf(first), house.stateOf(second)]).toEqual(['active', 'queued'])
    house.run({ kind: 'cancel', job: first, by: 'ann' })
    expect(house.stateOf(second)).toBe('queued')
    house.report('w', house.ended(house.fenceOf(first), 'canceled'))
    expect([house.stateOf(first), house.stateOf(second)]).toEqual(['canceled', 'active'])
  })
})

describe('retries', () => {
  it('wait out a doubling backoff and stop at the budget', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ retries: 2 }))
    house.report('w', house.ended(house.fenceOf(job), 'failed', 'boom'))
    expect(house.state.waiting.get(job)?.dueAt).toBe(house.now.wall + 1000)
    house.pass(1, ['w'])
    house.report('w', house.ended(house.fenceOf(job), 'failed', 'boom'))
    expect(house.state.waiting.get(job)?.dueAt).toBe(house.now.wall + 2000)
    house.pass(2, ['w'])
    expect(house.fenceOf(job).attempt).toBe(3)
    house.report('w', house.ended(house.fenceOf(job), 'failed', 'boom'))
    expect(house.stateOf(job)).toBe('failed')
  })

  it('do not wait for hours when the clock is set back', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ retries: 1 }))
    house.report('w', house.ended(house.fenceOf(job), 'failed', 'boom'))
    house.setClock(-3_600_000)
    house.pass(1, ['w'])
    expect(house.stateOf(job)).toBe('active')
  })

  it('happen only on the outcomes the spec names', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ retries: 5 }))
    house.report('w', house.ended(house.fenceOf(job), 'timed_out'))
    expect(house.stateOf(job)).toBe('timed_out')
  })

  it('do not follow a cancel', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob({ retries: 5 }))
    house.run({ kind: 'cancel', job, by: 'ann' })
    house.report('w', house.ended(house.fenceOf(job), 'failed', 'died while stopping'))
    expect(house.stateOf(job)).toBe('failed')
  })
})

describe('a worker that comes back', () => {
  it('is offered again what it never took up', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    const reply = house.join(aHello('w'))
    expect(reply.reoffer).toEqual([house.fenceOf(job)])
  })

  it('without an attempt it had started has lost it', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.report('w', house.running(house.fenceOf(job)))
    house.join(aHello('w', { nextBatch: 2 }))
    expect(house.fenceOf(job).attempt).toBe(2)
    expect(house.state.workers.get('w')?.lost.size).toBe(0)
  })

  it('is refused with another secret', () => {
    house.join(aHello('w'))
    expect(() => house.run({ kind: 'hello', hello: aHello('w'), secretHash: 'x', joinHash: null })).toThrow(Refused)
  })

  it('needs its own join token', () => {
    house.join(aHello('w'))
    expect(() => house.run({ kind: 'hello', hello: aHello('v'), secretHash: 'x', joinHash: 'join-hash' })).toThrow(
      /was used by worker w/,
    )
    expect(() => house.run({ kind: 'hello', hello: aHello('v'), secretHash: 'x', joinHash: 'nonsense' })).toThrow(
      /no valid join token/,
    )
  })

  it('that says goodbye frees its jobs at once', () => {
    house.join(aHello('w'))
    house.join(aHello('v'))
    const job = house.submit(aJob({ placement: { worker: 'w' } }))
    house.run({ kind: 'goodbye', worker: 'w', reason: 'shutdown' })
    expect(house.journal.flatMap(b => b.changes).filter(c => c.c === 'released')).toHaveLength(1)
    expect(house.stateOf(job)).not.toBe('failed')
  })

  it('declining a job gets no other of its kind for a while', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.report('w', { kind: 'declined', fence: house.fenceOf(job), at: 0, reason: 'draining' })
    expect(house.stateOf(job)).toBe('queued')
    house.pass(10, ['w'])
    expect(house.stateOf(job)).toBe('active')
  })
})

describe('report batches', () => {
  it('seen before change nothing; one too early is refused', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    const fence = house.fenceOf(job)
    house.run({ kind: 'report', worker: 'w', n: 1, reports: [house.ended(fence, 'failed', 'x')], rows: [] })
    const before = house.journal.length
    expect(
      house.run({ kind: 'report', worker: 'w', n: 1, reports: [house.ended(fence, 'failed', 'x')], rows: [] })
        .ackedBatch,
    ).toBe(1)
    expect(house.journal.length).toBe(before)
    expect(() => house.run({ kind: 'report', worker: 'w', n: 3, reports: [], rows: [] })).toThrow(
      /batch 3 came, batch 2 is next/,
    )
  })

  it('about an attempt of another worker change nothing', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    house.join(aHello('v'))
    expect(house.report('v', house.running(house.fenceOf(job))).stale).toEqual([house.fenceOf(job)])
    expect(house.state.active.get(job)?.state).toBe('leased')
  })
})

describe('cancel', () => {
  it('ends a queued job at once and an active one through its worker; a second cancel changes nothing', () => {
    const queued = house.submit(aJob({ placement: { tags: ['none'] } }))
    expect(house.run({ kind: 'cancel', job: queued, by: 'ann' }).effect).toBe('canceled')
    expect(house.run({ kind: 'cancel', job: queued, by: 'bob' }).effect).toBe('ended')
    house.join(aHello('w'))
    const active = house.submit(aJob())
    expect(house.run({ kind: 'cancel', job: active, by: 'ann' }).effect).toBe('stopping')
    const commits = house.journal.length
    expect(house.run({ kind: 'cancel', job: active, by: 'bob' }).effect).toBe('stopping')
    expect(house.journal.length).toBe(commits)
    expect(house.state.active.get(active)?.cancelBy).toBe('canceled by ann')
  })

  it('of a program that finished first leaves it succeeded', () => {
    house.join(aHello('w'))
    const job = house.submit(aJob())
    const fence = house.fenceOf(job)
    house.run({ kind: 'cancel', job, by: 'ann' })
    house.report('w', house.ended(fence, 'completed'))
    expect(house.stateOf(job)).toBe('succeeded')
  })
})

describe('submit', () => {
  it('answers a repeated key with the first jobs, and refuses the key for another body', () => {
    const key = { key: 'k', hash: 'h1' }
    const first = house.run({ kind: 'submit', owner: 'ann', jobs: [aJob()], key, failFast: false })
    const idempotency = { owner: 'ann', key: 'k', hash: 'h1', firstSeq: first.firstSeq, count: 1, at: 0 }
    expect(
      house.run({ kind: 'submit', owner: 'ann', jobs: [aJob()], key, failFast: false }, { idempotency }),
    ).toMatchObject({ firstSeq: first.firstSeq, repeated: true })
    const other = { key: 'k', hash: 'h2' }
    expect(() =>
      house.run({ kind: 'submit', owner: 'ann', jobs: [aJob()], key: other, failFast: false }, { idempotency }),
    ).toThrow(/another body/)
  })

  it('says what no worker can run, or refuses it when asked to', () => {
    house.join(aHello('w', { gpus: 1 }))
    const wish = aJob({ command: 'x', resources: { gpus: 2 } })
    const reply = house.run({ kind: 'submit', owner: 'ann', jobs: [wish], key: null, failFast: false })
    expect(reply.unschedulable).toEqual(['needs 2 GPUs, w has 1'])
    expect(() => house.run({ kind: 'submit', owner: 'ann', jobs: [wish], key: null, failFast: true })).toThrow(
      'needs 2 GPUs, w has 1',
    )
  })
})

it('a worker with running jobs cannot be removed, an idle or absent one can', () => {
  house.join(aHello('w'))
  const job = house.submit(aJob())
  expect(() => house.run({ kind: 'removeWorker', worker: 'w' })).toThrow(/drain it first/)
  house.report('w', house.ended(house.fenceOf(job), 'completed'))
  house.run({ kind: 'removeWorker', worker: 'w' })
  expect(house.state.workers.size).toBe(0)
})

it('removing a worker revokes the token it joined with', () => {
  house.join(aHello('w'))
  house.run({ kind: 'removeWorker', worker: 'w' })
  expect(() => house.run({ kind: 'hello', hello: aHello('w'), secretHash: 's', joinHash: 'join-hash' })).toThrow(
    /no valid join token/,
  )
})

it('times told by a worker with a wrong clock are made plausible', () => {
  house.join(aHello('w'))
  const job = house.submit(aJob())
  const fence = house.fenceOf(job)
  house.report('w', { ...house.running(fence), at: 5 })
  house.report('w', { ...house.ended(fence, 'completed'), at: 9e15 })
  const { wall } = house.now
  expect(
    house.journal
      .flatMap(b => b.changes)
      .filter(c => c.c === 'running' || c.c === 'attemptEnded')
      .map(c => c.at),
  ).toEqual([wall, wall])
})

it('a drained worker finishes what it has and gets nothing new', () => {
  house.join(aHello('w'))
  const running = house.submit(aJob())
  house.run({ kind: 'drain', worker: 'w', on: true })
  const next = house.submit(aJob())
  expect([house.stateOf(running), house.stateOf(next)]).toEqual(['active', 'queued'])
  house.run({ kind: 'drain', worker: 'w', on: false })
  expect(house.stateOf(next)).toBe('active')
})
