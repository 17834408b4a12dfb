import { expect, it } from 'vitest'
import { faultPlan } from './faults.ts'
import { runSim, type SimOptions } from './run.ts'
import { seedRunner } from './seed-runner.ts'

it('gives of a large world what it would be without the small ones before it', () => {
  const plan = faultPlan('none')
  if (plan === null) throw new Error('there must be a plan without faults')
  const world = { seed: 7, workers: 40, jobs: 5_000, maxGpus: 1, plan, faultMs: 1_000, isPlain: true, isEncoded: false }
  const options: SimOptions = { ...world, hasSchedule: false, hasSessions: false, plant: null }
  const { realMs: _, ...rehearsed } = seedRunner(2)(options)
  expect(rehearsed).toEqual({ seed: 7, ...runSim(options) })
})
