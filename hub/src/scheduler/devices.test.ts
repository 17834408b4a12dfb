import { describe, expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { refusalsNow } from './refusals-now.ts'

const whole = () => aJob({ command: 'x', resources: { gpus: 1, cpus: 0 } })
const part = (gigabytes: number) =>
  aJob({ command: 'x', resources: { gpuSharing: 'shared', gpuMemory: `${gigabytes}GB`, cpus: 0 } })

function aHouse(gpus: number): TestHouse {
  const house = new TestHouse()
  house.join(aHello('w', { gpus, maxJobs: 16 }))
  return house
}

function codesOf(house: TestHouse, job: number): string[] {
  const bucket = house.state.buckets.get(house.state.queued.get(job)?.bucket ?? -1)
  const worker = house.state.workers.get('w')
  if (bucket === undefined || worker === undefined) return []
  return refusalsNow(house.state, bucket, house.now)(worker).map(({ code }) => code)
}

describe('devices', () => {
  it('are shared up to their memory, and never with a job that has them whole', () => {
    const house = aHouse(1)
    const jobs = [part(10), part(10), part(10), whole()].map(job => house.submit(job))
    expect(jobs.map(job => house.stateOf(job))).toEqual(['active', 'active', 'queued', 'queued'])
    expect(codesOf(house, jobs[2] ?? 0)).toEqual(['busy.gpus'])
  })

  it('stay whole while parts fit on one that is shared already', () => {
    const house = aHouse(2)
    const jobs = [part(10), part(10), whole()].map(job => house.submit(job))
    const given = jobs.map(job => house.state.active.get(job)?.claim.gpus[0])
    expect(given[0]).toBe(given[1])
    expect(given[2]).not.toBe(given[0])
  })

  it('that others use are not given whole, and parts get what is left', () => {
    const house = aHouse(1)
    house.tellDevices('w', [{ uuid: 'w-gpu-0', foreignMb: 8_000, fault: null }])
    const jobs = [whole(), part(20), part(10)].map(job => house.submit(job))
    expect(jobs.map(job => house.stateOf(job))).toEqual(['queued', 'queued', 'active'])
    expect(codesOf(house, jobs[1] ?? 0)).toEqual(['gpus.foreign'])
    house.report('w', house.ended(house.fenceOf(jobs[2] ?? 0), 'completed'))
    expect(codesOf(house, jobs[0] ?? 0)).toEqual(['gpus.foreign'])
    house.tellDevices('w', [{ uuid: 'w-gpu-0', foreignMb: 100, fault: null }])
    expect(house.stateOf(jobs[0] ?? 0)).toBe('active')
  })

  it('that are faulty or quarantined are left out by themselves, and come back', () => {
    const house = aHouse(3)
    house.tellDevices('w', [{ uuid: 'w-gpu-0', foreignMb: 0, fault: 'it is lost' }])
    house.run({ kind: 'quarantine', uuid: 'w-gpu-1', reason: 'loud', by: 'ann' })
    const jobs = [whole(), whole()].map(job => house.submit(job))
    expect(house.state.active.get(jobs[0] ?? 0)?.claim.gpus).toEqual(['w-gpu-2'])
    expect(codesOf(house, jobs[1] ?? 0).sort()).toEqual(['busy.gpus', 'gpus.faulty', 'gpus.quarantined'])
    house.run({ kind: 'releaseDevice', uuid: 'w-gpu-1', by: 'ann' })
    expect(house.state.active.get(jobs[1] ?? 0)?.claim.gpus).toEqual(['w-gpu-1'])
    expect(() => house.run({ kind: 'quarantine', uuid: 'none', reason: 'x', by: 'ann' })).toThrow(
      'no worker has a device',
    )
  })

  it('are seen by the worker that can look deepest', () => {
    const house = aHouse(1)
    house.join({ ...aHello('v'), hardware: aHello('w', { gpus: 1 }).hardware })
    house.tellDevices('w', [{ uuid: 'w-gpu-0', foreignMb: 9_000, fault: null }])
    house.tellDevices('v', [{ uuid: 'w-gpu-0', foreignMb: 0, fault: null }])
    expect(house.stateOf(house.submit(whole()))).toBe('active')
  })
})

describe('a reservation', () => {
  it('lets pass what leaves enough or surely ends before, and nothing else', () => {
    const house = aHouse(4)
    const running = [1, 2].map(() =>
      house.submit(aJob({ command: 'x', timeout: '10m', resources: { gpus: 1, cpus: 0 } })),
    )
    for (const job of running) house.report('w', house.running(house.fenceOf(job)))
    const large = house.submit(aJob({ command: 'big', resources: { gpus: 4, cpus: 0 } }))
    house.pass(62, ['w'])
    house.submit(aJob({ type: 'noop' }))
    expect(house.state.reservations.held).toMatchObject([{ job: large, worker: 'w', waitsFor: new Set(running) }])
    const [long, short, beside, urgent] = [
      house.submit(whole()),
      house.submit(aJob({ command: 's', timeout: '2m', resources: { gpus: 1, cpus: 0 } })),
      house.submit(aJob({ command: 'c' })),
      house.submit(aJob({ command: 'u', priority: 5, resources: { gpus: 1, cpus: 0 } })),
    ]
    expect([long, short, beside, urgent].map(job => house.stateOf(job))).toEqual([
      'queued',
      'active',
      'active',
      'active',
    ])
    house.run({ kind: 'cancel', job: large, by: 'ann' })
    house.pass(1, ['w'])
    expect(house.state.reservations.held).toEqual([])
  })
})
