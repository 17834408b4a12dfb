import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NO_FACTS } from '../engine/commands.ts'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { expectSound } from './expect-sound-contract.ts'
import { POLICIES } from './policies.ts'

const need = fc.record({
  gpus: fc.integer({ min: 0, max: 2 }),
  cpus: fc.integer({ min: 0, max: 3 }),
  priority: fc.integer({ min: -1, max: 1 }),
  isBig: fc.boolean(),
})
const event = fc.record({
  jobs: fc.array(need, { maxLength: 5 }),
  ended: fc.nat(30),
  declined: fc.nat(30),
  foreignMb: fc.constantFrom(0, 0, 900),
  seconds: fc.constantFrom(0, 1, 40),
})

describe.each(Object.values(POLICIES))('$name', policy => {
  it('overlooks nobody in a fleet of workers that are alike, some of them on one host', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1, maxLength: 20 }), events => {
        const house = new TestHouse(policy)
        for (let i = 0; i < 9; i += 1) house.join(helloOf(i))
        const all = [...house.state.workers.keys()]
        for (const { jobs, ended, declined, foreignMb, seconds } of events) {
          if (jobs.length > 0) house.submit(...jobs.map(jobOf))
          house.tellDevices('w1', [{ uuid: 'w1-gpu-0', foreignMb, fault: null }])
          end(house, ended, 'ended')
          end(house, declined, 'declined')
          house.pass(seconds, all)
          // A job that was declined goes elsewhere in the next pass.
          house.pass(1, all)
          expectSound(house)
        }
      }),
      { numRuns: 150 },
    )
  })

  it('starts as many new jobs as there are idle workers', () => {
    const house = new TestHouse(policy)
    for (let i = 0; i < 6; i += 1) house.join(aHello(`w${i}`, { gpus: 1 }))
    const first = house.submit(...Array.from({ length: 5 }, () => aGpuJob()))
    expect([0, 1, 2, 3, 4].map(i => house.stateOf(first + i))).toEqual(Array(5).fill('active'))
  })

  it('has an idle worker left for a new job when one that waited takes another that just became idle', () => {
    const house = new TestHouse(policy)
    for (const name of ['w0', 'w1']) house.join(aHello(name, { gpus: 1 }))
    const running = house.submit(aGpuJob({ worker: 'w0' }))
    const waiting = house.submit(aGpuJob({ worker: 'w0' }))
    const ended = house.ended(house.fenceOf(running), 'completed')
    house.core.execute({ kind: 'report', worker: 'w0', n: 1, reports: [ended], rows: [] }, NO_FACTS, house.now)
    const fresh = house.submit(aGpuJob())
    expect([waiting, fresh].map(job => house.state.active.get(job)?.claim.worker)).toEqual(['w0', 'w1'])
  })

  it('looks at a few of many idle workers for a new job', () => {
    const looks = [100, 1000].map(workers => {
      const house = new TestHouse(policy)
      for (let i = 0; i < workers; i += 1) house.join(aHello(`w${i}`, { gpus: 2 }))
      const before = house.submit(aJob({ command: 'x', resources: { gpus: 1 } }))
      expect(house.stateOf(before)).toBe('active')
      const counted = new CountedMap(house.state.workers)
      const queued = house.submit(aJob({ command: 'x', resources: { gpus: 3 } }))
      const bucket = house.state.queued.get(queued)?.bucket ?? -1
      policy.plan({ ...house.state, workers: counted, dirtyBuckets: new Set([bucket]) }, house.now)
      return counted.looks
    })
    expect(looks[0]).toBe(looks[1])
    expect(looks[1]).toBeLessThan(10)
  })
})

function aGpuJob(placement: { readonly worker?: string } = {}) {
  return aJob({ command: 'x', resources: { gpus: 1 }, placement })
}

/** Three kinds in turn; the last two workers show the same devices. */
function helloOf(index: number) {
  const hello = aHello(`w${index}`, { gpus: index % 3, maxJobs: 2 })
  return index < 8 ? hello : { ...hello, hardware: aHello('w7', { gpus: 7 % 3 }).hardware }
}

function jobOf({ gpus, cpus, priority, isBig }: typeof need extends fc.Arbitrary<infer T> ? T : never) {
  return aJob({ command: 'x', priority, timeout: 600, resources: { gpus, cpus, memory: isBig ? 7e9 : 1e9 } })
}

function end(house: TestHouse, which: number, kind: 'ended' | 'declined'): void {
  const active = [...house.state.active.values()][which]
  if (active === undefined) return
  const fence = house.fenceOf(active.seq)
  const declined = { kind: 'declined' as const, fence, at: house.now.wall, reason: 'no room' }
  house.report(active.claim.worker, kind === 'ended' ? house.ended(fence, 'completed') : declined)
}

/** Counts who is asked for. */
class CountedMap<K, V> extends Map<K, V> {
  looks = 0

  override get(key: K): V | undefined {
    this.looks += 1
    return super.get(key)
  }
}
