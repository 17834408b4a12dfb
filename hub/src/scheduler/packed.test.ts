import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aHello, aJob, TestHouse } from '../engine/test-house.ts'
import { unschedulable } from './unschedulable.ts'

describe('packed', () => {
  it('takes higher priorities first, then the oldest', () => {
    const house = new TestHouse()
    const [low, high, older] = [
      house.submit(aJob({ priority: -1 })),
      house.submit(aJob({ priority: 9 })),
      house.submit(aJob()),
    ]
    house.join(aHello('w', { maxJobs: 2 }))
    expect([low, high, older].map(job => house.stateOf(job))).toEqual(['queued', 'active', 'active'])
  })

  it('lets a job that fits pass one that does not', () => {
    const house = new TestHouse()
    house.join(aHello('w', { cpus: 2 }))
    const [big, small] = [
      house.submit(aJob({ command: 'x', resources: { cpus: 8 } })),
      house.submit(aJob({ command: 'y' })),
    ]
    expect([big, small].map(job => house.stateOf(job))).toEqual(['queued', 'active'])
  })

  it('fills the fuller worker first', () => {
    const house = new TestHouse()
    house.join(aHello('a'))
    house.join(aHello('b'))
    const first = house.submit(aJob({ command: 'x', placement: { worker: 'b' } }))
    const second = house.submit(aJob({ command: 'y' }))
    expect([first, second].map(job => house.state.active.get(job)?.claim.worker)).toEqual(['b', 'b'])
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

  it('never over-commits, and never leaves a job queued that fits a free worker', () => {
    const job = fc.record({
      cpus: fc.integer({ min: 0, max: 6 }),
      gpus: fc.integer({ min: 0, max: 3 }),
      memory: fc.integer({ min: 0, max: 10 }),
      priority: fc.integer({ min: -2, max: 2 }),
    })
    const worker = fc.record({
      cpus: fc.integer({ min: 1, max: 8 }),
      gpus: fc.integer({ min: 0, max: 4 }),
      maxJobs: fc.integer({ min: 1, max: 5 }),
    })
    fc.assert(
      fc.property(
        fc.array(worker, { minLength: 1, maxLength: 5 }),
        fc.array(job, { maxLength: 40 }),
        fc.array(fc.nat(39), { maxLength: 30 }),
        (workers, jobs, ends) => {
          const house = new TestHouse()
          const seqs = jobs.slice(0, 10).map(spec => house.submit(jobOf(spec)))
          workers.forEach((facts, index) => {
            house.join(aHello(`w${index}`, facts))
          })
          seqs.push(...jobs.slice(10).map(spec => house.submit(jobOf(spec))))
          for (const index of ends) {
            const active = house.state.active.get(seqs[index] ?? -1)
            if (active !== undefined)
              house.report(active.claim.worker, house.ended(house.fenceOf(active.seq), 'completed'))
            expectSound(house)
          }
        },
      ),
      { numRuns: 150 },
    )
  })
})

function jobOf({ cpus, gpus, memory, priority }: { cpus: number; gpus: number; memory: number; priority: number }) {
  return aJob({ command: 'x', priority, resources: { cpus, gpus, memory: memory * 1e9 } })
}

function expectSound(house: TestHouse): void {
  const taken = [...house.state.active.values()].flatMap(active => active.claim.gpus)
  expect(new Set(taken).size).toBe(taken.length)
  for (const worker of house.state.workers.values()) {
    const claims = [...worker.active.values()].map(active => active.claim)
    const cpus = claims.reduce((sum, claim) => sum + claim.cpusMilli, 0)
    const memory = claims.reduce((sum, claim) => sum + claim.memoryMb, 0)
    expect(cpus).toBeLessThanOrEqual(worker.facts.cpusMilli)
    expect(memory).toBeLessThanOrEqual(worker.facts.memoryMb)
    expect(claims.length).toBeLessThanOrEqual(worker.facts.maxJobs)
    expect([worker.cpusMilliFree, worker.memoryMbFree, worker.slotsFree]).toEqual([
      worker.facts.cpusMilli - cpus,
      worker.facts.memoryMb - memory,
      worker.facts.maxJobs - claims.length,
    ])
    const freeGpus = worker.facts.hardware.gpus.filter(gpu => !house.state.devices.has(gpu.uuid)).length
    for (const bucket of house.state.queued.buckets()) {
      const shape = house.state.buckets.get(bucket)?.shape
      if (shape === undefined) continue
      const fits =
        worker.slotsFree >= 1 &&
        worker.cpusMilliFree >= shape.cpusMilli &&
        worker.memoryMbFree >= shape.memoryMb &&
        freeGpus >= shape.gpus
      expect(fits, `bucket ${bucket} fits ${worker.id} and was not placed`).toBe(false)
    }
  }
}

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
