import { Refused } from '@stoker/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import type { WorkerFacts } from './state.ts'
import { aHello, aJob, TestHouse } from './test-house.ts'
import { lostByRestart } from './test-restart.ts'

let house: TestHouse
beforeEach(() => {
  house = new TestHouse()
})

const dialect = { name: 'example', quietMs: 90_000 }
const foreign = {
  dialect: 'example',
  types: { command: 'verified', training: 'unverified' } as const,
  uses: [],
  maxGpus: 1,
}

function aForeigner(over: Partial<WorkerFacts> = {}): Omit<WorkerFacts, 'secretHash'> {
  const { name, version, tags, maxJobs, window, hardware, bootId } = aHello('f', { gpus: 2 })
  const { types: _, ...abilities } = aHello('f').abilities
  return {
    ...{ name, version, owner: 'ann', tags, maxJobs, window, cpusMilli: 4000, memoryMb: 8000, hardware, bootId },
    abilities: { ...abilities, executors: ['process'], sandbox: false, foreign },
    dialect,
    ...over,
  }
}

const enlist = (over: Partial<WorkerFacts> = {}) => house.run({ kind: 'enlist', worker: 'f', facts: aForeigner(over) })
const ask = (most = 1) => house.run({ kind: 'ask', worker: 'f', most })
const leased = () => [...(house.state.workers.get('f')?.active.keys() ?? [])]

describe('a worker of another protocol', () => {
  it('gets a job only when it asks, and no more than it asks for', () => {
    enlist()
    const [first, second] = [house.submit(aJob({ command: 'x' })), house.submit(aJob({ command: 'x' }))]
    expect(leased()).toEqual([])
    ask(1)
    expect(leased()).toEqual([first])
    house.pass(1)
    expect(leased()).toEqual([first])
    ask(5)
    expect(leased()).toEqual([first, second])
  })

  it('leaves a job to a worker that is free now', () => {
    enlist()
    house.join(aHello('w'))
    const job = house.submit(aJob({ command: 'x' }))
    expect(house.state.active.get(job)?.claim.worker).toBe('w')
  })

  it.each([
    ['a type it does not run', { type: 'sft' as const }],
    ['a type whose results nobody can vouch for', { type: 'training' as const }],
    ['something it cannot carry', { command: 'x', env: { A: 'b' } }],
    ['more GPUs than it gives', { command: 'x', resources: { gpus: 2 } }],
  ])('never gets a job with %s', (_, spec) => {
    enlist()
    house.submit(aJob(spec))
    ask()
    expect(leased()).toEqual([])
  })

  it('gets a job whose owner takes what nobody can vouch for', () => {
    enlist()
    const job = house.submit(aJob({ type: 'training', placement: { unverified: true } }))
    ask()
    expect(leased()).toEqual([job])
  })

  it('keeps what it has through any silence: its gateway decides', () => {
    enlist()
    const job = house.submit(aJob({ command: 'x' }))
    ask()
    house.pass(4000)
    expect(house.stateOf(job)).toBe('active')
    const fence = house.fenceOf(job)
    house.run({ kind: 'lose', fence, reason: 'no progress for 5 minutes' })
    expect(house.stateOf(job)).toBe('queued')
  })

  it('fails a job after as many losses as its gateway allows', () => {
    enlist()
    const job = house.submit(aJob({ command: 'x' }))
    for (const state of ['queued', 'queued', 'failed']) {
      ask()
      house.run({ kind: 'lose', fence: house.fenceOf(job), reason: 'interrupted', most: 3 })
      house.run({ kind: 'goodbye', worker: 'f', reason: 'it asks' })
      expect(house.stateOf(job)).toBe(state)
    }
    expect(lostByRestart(house)).toBeNull()
  })

  it('reports without numbers, and brings a lost attempt back', () => {
    enlist()
    const job = house.submit(aJob({ command: 'x' }))
    ask()
    const fence = house.fenceOf(job)
    house.run({ kind: 'lose', fence, reason: 'silent' })
    house.run({ kind: 'report', worker: 'f', n: null, reports: [house.ended(fence, 'completed')], rows: [] })
    expect(house.stateOf(job)).toBe('succeeded')
    expect(house.state.workers.get('f')?.batch).toBe(0)
  })

  it('may take a certain job, and not one that another has or that it cannot run', () => {
    enlist()
    const [first, second] = [house.submit(aJob({ command: 'x' })), house.submit(aJob({ command: 'x' }))]
    const claimed = house.run({ kind: 'claim', worker: 'f', job: second })
    expect(claimed.fence).toEqual(house.fenceOf(second))
    expect(house.run({ kind: 'claim', worker: 'f', job: second })).toEqual(claimed)
    house.join(aHello('w'))
    expect(house.state.active.get(first)?.claim.worker).toBe('w')
    expect(() => house.run({ kind: 'claim', worker: 'f', job: first })).toThrow(/is with worker w, f wants it/)
    const heavy = house.submit(aJob({ command: 'x', resources: { gpus: 2, cpus: 4 } }))
    expect(() => house.run({ kind: 'claim', worker: 'f', job: heavy })).toThrow(/needs 2 GPUs.*at most 1/)
  })

  it('is known after a restart as before, with what its gateway remembers', () => {
    enlist()
    house.run({ kind: 'note', worker: 'f', note: { variant: 'simple', declines: [1, null] } })
    enlist({ tags: ['lab'] })
    expect(house.state.workers.get('f')?.note).toEqual({ variant: 'simple', declines: [1, null] })
    expect(lostByRestart(house)).toBeNull()
  })

  it('cannot take the id of a worker of ours', () => {
    house.join(aHello('f'))
    expect(() => enlist()).toThrow(Refused)
  })
})
