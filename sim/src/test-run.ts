import { faultPlan } from './faults.ts'
import type { Plant } from './plants.ts'
import { runSim, type SimOptions, type SimResult } from './run.ts'

/** A small world that breaks often: many of them see more than one large one. */
export function aRun(seed: number, faults: string, rest: Partial<SimOptions> = {}): SimResult {
  const plan = faultPlan(faults)
  if (plan === null) throw new Error(`there is no fault called ${faults}`)
  const small = { workers: 4, jobs: 30, maxGpus: 3, faultMs: 40_000, isPlain: false, isEncoded: seed % 8 === 0 }
  const hasSchedule = seed % 2 === 0
  const hasSessions = seed % 3 !== 0
  return runSim({ ...small, hasSchedule, hasSessions, plan, plant: null, seed, ...rest })
}

/** All violations of some seeds, each with the seed that shows it. */
export function violationsOf(faults: string, first: number, count: number): string[] {
  const seeds = Array.from({ length: count }, (_, index) => first + index)
  return seeds.flatMap(seed => aRun(seed, faults).violations.map(text => `${faults}, seed ${seed}: ${text}`))
}

/** The first seed that finds the planted bug, and what it found. */
export function huntFor(
  plant: Plant,
  faults: string,
  seeds: number,
): { readonly seed: number; readonly found: string } | null {
  for (let seed = 1; seed <= seeds; seed += 1) {
    const [found] = aRun(seed, faults, { plant, jobs: 120 }).violations
    if (found !== undefined) return { seed, found }
  }
  return null
}
