import { type DependencyKind, Refused, type TerminalState } from '@stoker/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { type JobRef, type NewJob, StaleFacts } from './commands.ts'
import { aHello, aJob, TestHouse } from './test-house.ts'
import { lostByRestart } from './test-restart.ts'

let house: TestHouse
let refs: Map<string, JobRef>

beforeEach(() => {
  house = new TestHouse()
  house.join(aHello('w', { maxJobs: 2 }))
  refs = new Map()
})

const idOf = (n: number) => `01999999-9999-7999-8999-${String(n).padStart(12, '0')}`

function after(id: string, on: Record<string, DependencyKind> | readonly string[], hold = false): NewJob {
  const dependsOn = Array.isArray(on)
    ? on.map(job => ({ job }))
    : Object.entries(on).map(([job, k]) => ({ job, on: k }))
  return aJob({ dependsOn, hold }, id)
}

/** Submits with the facts a loop would have read: every job submitted here before, as it was then. */
function submit(...jobs: NewJob[]): number {
  const known = new Map([...refs].map(([id, ref]) => [id, { ...ref, state: refState(ref) }]))
  const { firstSeq } = house.run(
    { kind: 'submit', owner: 'ann', jobs, key: null, failFast: false },
    { dependencies: known },
  )
  for (const [index, { id }] of jobs.entries())
    refs.set(id, { id, seq: firstSeq + index, owner: 'ann', state: 'queued' })
  return firstSeq
}

const refState = ({ seq }: JobRef) => house.stateOf(seq) as JobRef['state']

function end(seq: number, outcome: 'completed' | 'failed' = 'completed'): void {
  house.report('w', house.ended(house.fenceOf(seq), outcome))
}

const reasonOf = (seq: number) =>
  house.journal.flatMap(({ changes }) => changes).find(change => change.c === 'ended' && change.job === seq)

describe('a job that depends on others', () => {
  it('waits for all of them and starts in the commit that ends the last one', () => {
    const first = submit(aJob({}, idOf(1)), aJob({}, idOf(2)), after(idOf(3), [idOf(1), idOf(2)]))
    expect([0, 1, 2].map(n => house.stateOf(first + n))).toEqual(['active', 'active', 'waiting'])
    expect(lostByRestart(house)).toBeNull()
    end(first)
    expect(house.stateOf(first + 2)).toBe('waiting')
    expect(lostByRestart(house)).toBeNull()
    end(first + 1)
    expect(house.lastChanges.map(({ c }) => c)).toEqual(['attemptEnded', 'batch', 'met', 'placed'])
    expect(house.stateOf(first + 2)).toBe('active')
    expect(lostByRestart(house)).toBeNull()
  })

  it.each<[DependencyKind, TerminalState, string]>([
    ['success', 'succeeded', 'active'],
    ['success', 'failed', 'canceled'],
    ['success', 'canceled', 'canceled'],
    ['end', 'succeeded', 'active'],
    ['end', 'failed', 'active'],
    ['end', 'canceled', 'active'],
    ['failure', 'succeeded', 'canceled'],
    ['failure', 'failed', 'active'],
    ['failure', 'canceled', 'canceled'],
  ])('that asks for the %s of one that is %s is %s', (kind, ended, expected) => {
    const first = submit(aJob({}, idOf(1)), after(idOf(2), { [idOf(1)]: kind }))
    if (ended === 'canceled') {
      house.run({ kind: 'cancel', job: first, by: 'ann' })
      house.report('w', house.ended(house.fenceOf(first), 'canceled'))
    } else end(first, ended === 'succeeded' ? 'completed' : 'failed')
    expect(house.stateOf(first + 1)).toBe(expected)
    if (expected === 'canceled')
      expect(reasonOf(first + 1)).toMatchObject({
        reason: `it needs the ${kind} of job ${idOf(1)}, which is ${ended}`,
      })
    const late = () => submit(after(idOf(3), { [idOf(1)]: kind }))
    if (expected === 'active') expect(house.stateOf(late())).toBe('active')
    else expect(late).toThrow(`it needs the ${kind} of job ${idOf(1)}, which is ${ended}`)
    expect(lostByRestart(house)).toBeNull()
  })

  it('ends with all that wait for it when one before it fails, each naming its own cause', () => {
    const chain = Array.from({ length: 4 }, (_, n) => after(idOf(n + 2), [idOf(n + 1)]))
    const first = submit(aJob({}, idOf(1)), ...chain, after(idOf(9), { [idOf(5)]: 'end' }))
    end(first, 'failed')
    expect([1, 2, 3, 4].map(n => house.stateOf(first + n))).toEqual(Array(4).fill('canceled'))
    expect(reasonOf(first + 2)).toMatchObject({ reason: `it needs the success of job ${idOf(2)}, which is canceled` })
    expect(house.stateOf(first + 5)).toBe('active')
    expect(house.state.edges.size).toBe(0)
    expect(lostByRestart(house)).toBeNull()
  })

  it('goes on with dependents over many commits, a bounded number in each, also after a restart', () => {
    const dependents = Array.from({ length: 2500 }, (_, n) => after(idOf(n + 2), [idOf(1)]))
    const first = submit(aJob({}, idOf(1)), ...dependents)
    end(first)
    const met = () => house.lastChanges.filter(({ c }) => c === 'met').length
    expect(met()).toBe(1000)
    expect(house.core.isBehind).toBe(true)
    expect(lostByRestart(house)).toBeNull()
    house.close()
    expect(met()).toBe(1000)
    house.close()
    expect(met()).toBe(500)
    expect(house.core.isBehind).toBe(false)
    expect(house.state.waiting.size).toBe(0)
  })

  it('ends a chain of ten thousand without a deep call', () => {
    const chain = Array.from({ length: 9999 }, (_, n) => after(idOf(n + 2), [idOf(n + 1)]))
    const first = submit(aJob({}, idOf(1)), ...chain)
    end(first, 'failed')
    let commits = 1
    for (; house.core.isBehind; commits += 1) house.close()
    expect(commits).toBe(10)
    expect(house.stateOf(first + 9999)).toBe('canceled')
  })

  it('can be canceled while it waits, and leaves nothing behind', () => {
    const first = submit(aJob({}, idOf(1)), aJob({}, idOf(2)), after(idOf(3), [idOf(1), idOf(2)], true))
    expect(house.run({ kind: 'cancel', job: first + 2, by: 'ann' })).toEqual({ effect: 'canceled' })
    expect(house.state.edges.size).toBe(0)
    expect(lostByRestart(house)).toBeNull()
    end(first)
    expect(house.state.settling.size).toBe(0)
  })
})

describe('a submit', () => {
  function issuesOf(work: () => unknown): readonly string[] {
    try {
      work()
    } catch (error) {
      if (error instanceof Refused) return error.errors.map(({ path, message }) => `${error.code} ${path}: ${message}`)
      throw error
    }
    throw new Error('the submit was accepted')
  }

  it('refuses a circle with every job in it', () => {
    const jobs = [
      aJob({}, idOf(1)),
      after(idOf(2), [idOf(1), idOf(4)]),
      after(idOf(3), [idOf(2)]),
      after(idOf(4), [idOf(3)]),
    ]
    const issues = issuesOf(() => submit(...jobs, after(idOf(5), [idOf(4)])))
    expect(issues.map(issue => issue.split(':', 1)[0])).toEqual([1, 3, 2].map(n => `spec.invalid jobs[${n}].dependsOn`))
    expect(issues[0]).toMatch(/jobs\[1\] waits for jobs\[3\] waits for jobs\[2\] waits for jobs\[1\]: a circle of 3/)
    expect(house.state.waiting.size).toBe(0)
  })

  it('refuses jobs nobody has and jobs of another owner, each with its place', () => {
    submit(aJob({}, idOf(1)))
    refs.set(idOf(7), { id: idOf(7), seq: 999, owner: 'bob', state: 'queued' })
    const jobs = [after(idOf(2), [idOf(1)]), after(idOf(3), [idOf(7), idOf(1), idOf(8)])]
    expect(issuesOf(() => submit(...jobs))).toEqual([
      `dependency.unmeetable jobs[1].dependsOn[0]: found ${idOf(7)}; no job of ann has this id`,
      `dependency.unmeetable jobs[1].dependsOn[2]: found ${idOf(8)}; no job of ann has this id`,
    ])
    expect(issuesOf(() => submit(after(idOf(2), [idOf(8)])))[0]).toMatch(/^dependency.unmeetable dependsOn\[0\]: /)
  })

  it('refuses a job named twice, and more dependencies than it can check in a moment', () => {
    submit(aJob({}, idOf(1)))
    expect(issuesOf(() => submit(after(idOf(2), [idOf(1), idOf(1)])))).toEqual([
      `spec.invalid dependsOn[1]: found job ${idOf(1)} twice; each is named once`,
    ])
    const many = Array.from({ length: 1000 }, (_, n) => idOf(n + 10))
    const jobs = Array.from({ length: 101 }, (_, n) => after(idOf(n + 5000), many))
    expect(() => submit(...jobs)).toThrow('the jobs have 101000 dependencies; allowed: up to 100000 in one submit')
  })

  it('asks for new facts when a dependency ended after they were read', () => {
    const first = submit(aJob({}, idOf(1)))
    const before = new Map(refs)
    end(first)
    const command = {
      kind: 'submit',
      owner: 'ann',
      jobs: [after(idOf(2), [idOf(1)])],
      key: null,
      failFast: false,
    } as const
    expect(() => house.run(command, { dependencies: before })).toThrow(StaleFacts)
  })
})
