import type { SeedRun } from './report.ts'
import { runSim, type SimOptions } from './run.ts'

export function runSeed(options: SimOptions): SeedRun {
  const before = performance.now()
  const result = runSim(options)
  return { seed: options.seed, realMs: performance.now() - before, ...result }
}
