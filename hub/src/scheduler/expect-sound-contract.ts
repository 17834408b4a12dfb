import { expect } from 'vitest'
import type { TestHouse } from '../engine/test-house.ts'
import { isUntouched } from '../engine/untouched.ts'
import { neverRefusals } from './fit.ts'
import { REFUSALS } from './refusal.ts'
import { refusalsNow } from './refusals-now.ts'

/** Nothing is given twice, free amounts are what is left, and every waiting job has a reason on every worker. */
export function expectSound({ state, now }: TestHouse): void {
  for (const [uuid, holders] of state.devices) {
    const claims = [...holders.values()]
    const whole = claims.filter(claim => claim.gpuMemoryMb === null).length
    expect(whole === 0 || claims.length === 1, `${uuid} is held whole and shared`).toBe(true)
    expect(claims.reduce((sum, claim) => sum + (claim.gpuMemoryMb ?? 0), 0)).toBeLessThanOrEqual(24_000)
  }
  for (const worker of state.workers.values()) {
    const claims = [...worker.active.values(), ...worker.lost.values()]
      .map(({ claim }) => claim)
      .filter(({ session }) => session === null)
    const sum = (of: 'cpusMilli' | 'memoryMb') => claims.reduce((total, claim) => total + claim[of], 0)
    expect(sum('cpusMilli')).toBeLessThanOrEqual(worker.facts.cpusMilli)
    expect(sum('memoryMb')).toBeLessThanOrEqual(worker.facts.memoryMb)
    expect(claims.length).toBeLessThanOrEqual(worker.facts.maxJobs)
    expect([worker.cpusMilliFree, worker.memoryMbFree, worker.slotsFree]).toEqual([
      worker.facts.cpusMilli - sum('cpusMilli'),
      worker.facts.memoryMb - sum('memoryMb'),
      worker.facts.maxJobs - claims.length,
    ])
    expect(state.untouched.has(worker.id), `what is known of ${worker.id}`).toBe(isUntouched(state, worker))
    for (const id of state.queued.buckets()) {
      const bucket = state.buckets.get(id)
      if (bucket === undefined) continue
      const never = neverRefusals(bucket.shape, worker)
      const notNow = refusalsNow(state, bucket, now)(worker)
      expect(never.filter(({ code }) => REFUSALS[code] !== 'never')).toEqual([])
      expect(notNow.filter(({ code }) => REFUSALS[code] !== 'notNow')).toEqual([])
      expect(
        never.length + notNow.length,
        `bucket ${id} waits, and nothing keeps it from ${worker.id}`,
      ).toBeGreaterThan(0)
    }
  }
}
