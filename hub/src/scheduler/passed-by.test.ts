import { expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { expectSound } from './expect-sound-contract.ts'
import { POLICIES } from './policies.ts'

it.each(Object.values(POLICIES))(
  'holds nobody back for a job whose place someone of a higher priority took',
  policy => {
    const house = new TestHouse(policy)
    const urgent = house.submit(aJob({ command: 'x', priority: 1, resources: { cpus: 2 } }))
    const small = house.submit(aJob({ command: 'x', resources: { cpus: 0, memory: 1e9 }, placement: { tags: ['a'] } }))
    const large = house.submit(aJob({ command: 'x', resources: { cpus: 1, gpus: 1, memory: 8e9 } }))
    house.join(aHello('w0', { cpus: 2, gpus: 0, maxJobs: 1 }))
    house.join(aHello('w1', { cpus: 2, gpus: 1, maxJobs: 3, tags: ['a'] }))
    expect([urgent, small, large].map(seq => house.state.active.get(seq)?.claim.worker)).toEqual([
      'w0',
      'w1',
      undefined,
    ])
    // At the moment at which the large job has waited long enough, both attempts are lost and placed anew.
    house.pass(30, ['w0', 'w1'])
    house.pass(31, ['w0', 'w1'])
    expect(house.state.active.get(urgent)?.claim).toMatchObject({ worker: 'w1', attempt: 2 })
    house.pass(1, ['w0', 'w1'])
    expectSound(house)
  },
)
