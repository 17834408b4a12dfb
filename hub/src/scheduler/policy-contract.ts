import fc from 'fast-check'
import { expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { expectSound } from './expect-sound-contract.ts'
import type { Policy } from './policy.ts'

const TAGS = ['a', 'b']
const job = fc.record({
  cpus: fc.integer({ min: 0, max: 6 }),
  gpus: fc.integer({ min: 0, max: 3 }),
  sharedGb: fc.constantFrom(0, 0, 4, 9, 20),
  memory: fc.integer({ min: 0, max: 10 }),
  priority: fc.integer({ min: -1, max: 1 }),
  owner: fc.constantFrom('ann', 'bob', 'eve'),
  require: fc.subarray(TAGS, { maxLength: 1 }),
  prefer: fc.subarray(TAGS),
  exclude: fc.constantFrom([], [], ['w0']),
  timeout: fc.constantFrom(undefined, 20, 600),
})
const worker = fc.record({
  cpus: fc.integer({ min: 1, max: 8 }),
  gpus: fc.integer({ min: 0, max: 4 }),
  maxJobs: fc.integer({ min: 1, max: 5 }),
  tags: fc.subarray(TAGS),
})
const event = fc.record({
  seconds: fc.constantFrom(0, 0, 0, 30),
  ends: fc.nat(39),
  foreignMb: fc.constantFrom(null, null, 0, 5_000, 20_000),
  fault: fc.boolean(),
  device: fc.nat(5),
})

/** What holds under every policy, whatever it prefers. */
export function policyContract(policy: Policy): void {
  it('never gives too much, and leaves no job waiting without a reason', () => {
    fc.assert(
      fc.property(
        fc.array(worker, { minLength: 1, maxLength: 4 }),
        fc.array(job, { maxLength: 40 }),
        fc.array(event, { maxLength: 25 }),
        (workers, jobs, events) => {
          const house = new TestHouse(policy)
          const seqs = jobs.slice(0, 10).map(spec => submit(house, spec))
          workers.forEach((facts, index) => void house.join(aHello(`w${index}`, facts)))
          seqs.push(...jobs.slice(10).map(spec => submit(house, spec)))
          for (const { seconds, ends, foreignMb, fault, device } of events) {
            house.pass(seconds, [...house.state.workers.keys()])
            house.tellDevices('w0', [{ uuid: `w0-gpu-${device}`, foreignMb, fault: fault ? 'it is lost' : null }])
            const active = house.state.active.get(seqs[ends] ?? -1)
            if (active !== undefined)
              house.report(active.claim.worker, house.ended(house.fenceOf(active.seq), 'completed'))
            house.pass(1, [...house.state.workers.keys()])
            expectSound(house)
          }
        },
      ),
      { numRuns: 100 },
    )
  })

  it('does the same twice', () => {
    fc.assert(
      fc.property(
        fc.array(worker, { minLength: 1, maxLength: 4 }),
        fc.array(job, { maxLength: 30 }),
        (workers, jobs) => {
          const journals = [1, 2].map(() => {
            const house = new TestHouse(policy)
            for (const spec of jobs) submit(house, spec)
            workers.forEach((facts, index) => void house.join(aHello(`w${index}`, facts)))
            return house.journal.flatMap(batch => batch.changes.filter(change => change.c === 'placed'))
          })
          expect(journals[0]).toEqual(journals[1])
        },
      ),
      { numRuns: 30 },
    )
  })

  it('takes higher priorities first, then the oldest', () => {
    const house = new TestHouse(policy)
    const jobs = [aJob({ priority: -1 }), aJob({ priority: 9 }), aJob()].map(one => house.submit(one))
    house.join(aHello('w', { maxJobs: 2 }))
    expect(jobs.map(one => house.stateOf(one))).toEqual(['queued', 'active', 'active'])
  })

  it('lets a job that fits pass one that does not', () => {
    const house = new TestHouse(policy)
    house.join(aHello('w', { cpus: 2 }))
    const jobs = [aJob({ command: 'x', resources: { cpus: 8 } }), aJob({ command: 'y' })].map(one => house.submit(one))
    expect(jobs.map(one => house.stateOf(one))).toEqual(['queued', 'active'])
  })

  it('prefers workers with preferred tags, but no preference makes up for a required one', () => {
    const house = new TestHouse(policy)
    house.join(aHello('a', { tags: [] }))
    house.join(aHello('b', { tags: ['fast', 'slow'] }))
    house.join(aHello('c', { tags: ['lab'] }))
    const [preferred, required, avoided] = [
      house.submit(aJob({ placement: { tags: { prefer: ['fast'] } } })),
      house.submit(aJob({ placement: { tags: { require: ['lab'], prefer: ['fast'] } } })),
      house.submit(aJob({ placement: { tags: { avoid: ['slow'], prefer: ['fast'] }, exclude: ['a'] } })),
    ]
    expect([preferred, required, avoided].map(one => house.state.active.get(one)?.claim.worker)).toEqual([
      'b',
      'c',
      'c',
    ])
  })

  it('takes turns between owners, and an owner that used much waits longer', () => {
    const house = new TestHouse(policy)
    for (let i = 0; i < 6; i += 1) house.submitAs('ann', aJob())
    for (let i = 0; i < 3; i += 1) house.submitAs('bob', aJob())
    house.join(aHello('w', { maxJobs: 4 }))
    expect(ownersOf(house)).toEqual(['ann', 'ann', 'bob', 'bob'])
    for (const seq of house.state.active.keys()) house.report('w', house.running(house.fenceOf(seq)))
    house.pass(600, ['w'])
    house.submitAs('eve', aJob())
    const anns = [...house.state.active.values()].filter(({ claim }) => claim.owner === 'ann')
    for (const { seq } of anns) house.report('w', house.ended(house.fenceOf(seq), 'completed'))
    expect(ownersOf(house)).toEqual(['ann', 'bob', 'bob', 'eve'])
  })

  it('starts a large job among endless small ones', () => {
    const house = new TestHouse(policy)
    house.join(aHello('w', { gpus: 8, cpus: 64, maxJobs: 16 }))
    const small = () => house.submit(aJob({ command: 'x', resources: { gpus: 1 } }))
    for (let i = 0; i < 12; i += 1) small()
    const large = house.submit(aJob({ command: 'big', resources: { gpus: 8 } }))
    for (let turn = 0; turn < 200 && house.stateOf(large) !== 'active'; turn += 1) {
      house.pass(2, ['w'])
      const oldest = [...house.state.active.keys()][0]
      if (oldest !== undefined) house.report('w', house.ended(house.fenceOf(oldest), 'completed'))
      small()
    }
    expect(house.stateOf(large)).toBe('active')
  })
}

function ownersOf(house: TestHouse): string[] {
  return [...house.state.active.values()].map(({ claim }) => claim.owner).sort()
}

type Spec = typeof job extends fc.Arbitrary<infer T> ? T : never

function submit(house: TestHouse, spec: Spec): number {
  const { cpus, gpus, sharedGb, memory, priority, owner, require, prefer, exclude, timeout } = spec
  const isShared = gpus > 0 && sharedGb > 0
  return house.submitAs(
    owner,
    aJob({
      command: 'x',
      priority,
      ...(timeout === undefined ? {} : { timeout }),
      resources: {
        cpus,
        gpus,
        memory: memory * 1e9,
        ...(isShared ? { gpuSharing: 'shared' as const, gpuMemory: sharedGb * 1e9 } : {}),
      },
      placement: { exclude: [...exclude], tags: { require, prefer } },
    }),
  )
}
