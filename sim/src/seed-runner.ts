import type { SeedRun } from './report.ts'
import { runSim, type SimOptions } from './run.ts'

/** From here on a world takes so long that the pains of the first one are worth sparing. */
const LARGE = 5_000
const REHEARSALS = 4
const REHEARSED_JOBS = 200

/** Runs about so many seeds one after the other. Before the first of several large ones it plays a few small worlds: V8 then sees how worlds differ before it compiles for them, instead of compiling for the first one and again for each of the next. */
export function seedRunner(count: number): (options: SimOptions) => SeedRun {
  let isRehearsed = count < 2
  return options => {
    if (!isRehearsed && options.jobs >= LARGE) {
      isRehearsed = true
      for (let seed = 1; seed <= REHEARSALS; seed++) runSim({ ...options, seed, jobs: REHEARSED_JOBS })
    }
    const before = performance.now()
    const result = runSim(options)
    return { seed: options.seed, realMs: performance.now() - before, ...result }
  }
}
