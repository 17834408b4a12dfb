import { describe, expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { unschedulable } from './unschedulable.ts'

describe('packed', () => {
  it('fills the fuller worker first', () => {
    const house = new TestHouse()
    house.join(aHello('a'))
    house.join(aHello('b'))
    const first = house.submit(aJob({ command: 'x', placement: { worker: 'b' } }))
    const second = house.submit(aJob({ command: 'y' }))
    expect([first, second].map(job => house.state.active.get(job)?.claim.worker)).toEqual(['b', 'b'])
  })

  it('leaves GPUs that may not be there for last, but not their CPUs', () => {
    const house = new TestHouse()
    const doubtful = aHello('a', { gpus: 1 })
    const gpus = doubtful.hardware.gpus.map(gpu => ({ ...gpu, simulated: true }))
    house.join({ ...doubtful, hardware: { ...doubtful.hardware, gpus } })
    house.join(aHello('b', { gpus: 2 }))
    const specs = [{ placement: { worker: 'a' } }, {}, { resources: { gpus: 1 } }, { resources: { gpus: 1 } }]
    const jobs = [...specs, { resources: { gpus: 1 } }].map(spec => house.submit(aJob({ command: 'x', ...spec })))
    const workers = jobs.map(job => house.state.active.get(job)?.claim.worker)
    expect(workers).toEqual(['a', 'a', 'b', 'b', 'a'])
  })

  it('gives a job exactly its devices, and two workers that show one device share it', () => {
    const house = new TestHouse()
    const one = aHello('a', { gpus: 2 })
    house.join(one)
    house.join({ ...aHello('b'), hardware: one.hardware })
    const jobs = [1, 2, 3].map(() => house.submit(aJob({ resources: { gpus: 1 } })))
    const given = jobs.map(job => house.state.active.get(job)?.claim.gpus ?? [])
    expect(new Set(given.flat())).toEqual(new Set(['a-gpu-0', 'a-gpu-1']))
    expect(given[2]).toEqual([])
  })
})

describe('unschedulable', () => {
  const house = new TestHouse()
  house.join(aHello('big', { gpus: 1, tags: ['lab'] }))
  const why = (spec: Parameters<typeof aJob>[0]) => {
    house.submit(aJob({ command: 'x', ...spec }))
    const bucket = house.state.buckets.get(house.state.lastBucket)
    return bucket === undefined ? null : unschedulable(house.state, bucket.shape)
  }

  it.each([
    [{ resources: { gpus: 2 } }, 'needs 2 GPUs, big has 1'],
    [{ resources: { gpuMemory: '80GB' } }, 'needs 1 GPU (76293 MiB), big has 0 such: Test GPU with 24000 MiB'],
    [{ resources: { gpuModel: 'H100' } }, 'needs 1 GPU (H100), big has 0 such: Test GPU with 24000 MiB'],
    [{ resources: { cpus: 64 } }, 'needs 64 CPUs, big has 4'],
    [{ resources: { memory: '1TB' } }, 'needs 1000000 MB of memory, big has 8000 MB'],
    [{ placement: { tags: ['lab', 'fast'] } }, 'needs tag fast, big has lab'],
    [{ placement: { worker: 'small' } }, 'asks for worker small, this is big'],
  ])('%j: %s', (spec, text) => expect(why(spec)).toBe(text))

  it('says nothing of what fits', () => expect(why({ resources: { gpus: 1 } })).toBeNull())
})
