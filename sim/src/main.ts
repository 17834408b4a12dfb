import { parseArgs } from 'node:util'
import { FAULT_NAMES, faultPlan, PROFILE_NAMES } from './faults.ts'
import { describeRuns, type SeedRun } from './report.ts'
import { runSim, type SimOptions } from './run.ts'

const USAGE = `usage: sim [--seed N] [--seeds COUNT] [--workers N] [--jobs N] [--gpus N] [--faults NAME] [--minutes N] [--plain] [--json]
  --faults  ${PROFILE_NAMES.join(', ')}, or a comma list of ${FAULT_NAMES.join(', ')}
  --plain   one small kind of job in large batches, for measuring`

/** Runs seeds one after the other; 0 if none broke a guarantee, 1 if one did, 2 if it was asked wrongly. */
export function main(args: readonly string[], print: (text: string) => void): number {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string', default: '1' },
      workers: { type: 'string', default: '5' },
      jobs: { type: 'string', default: '60' },
      gpus: { type: 'string', default: '4' },
      minutes: { type: 'string', default: '1' },
      faults: { type: 'string', default: 'light' },
      plain: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const plan = faultPlan(values.faults)
  const [first, count, workers, jobs, maxGpus, minutes] = [
    values.seed,
    values.seeds,
    values.workers,
    values.jobs,
    values.gpus,
    values.minutes,
  ].map(Number) as [number, number, number, number, number, number]
  if (plan === null || [first, count, workers, jobs, maxGpus, minutes].some(Number.isNaN)) {
    print(USAGE)
    return 2
  }
  const base = { workers, jobs, maxGpus, plan, faultMs: minutes * 60_000, isPlain: values.plain, plant: null }
  const flags = `--workers ${workers} --jobs ${jobs} --gpus ${maxGpus} --minutes ${minutes} --faults ${values.faults}${values.plain ? ' --plain' : ''}`
  const runs = Array.from({ length: count }, (_, index) => timed({ ...base, ...ofSeed(first + index, values.plain) }))
  print(values.json ? JSON.stringify(runs) : describeRuns(runs, flags))
  return runs.some(run => run.violations.length > 0) ? 1 : 0
}

/** Every eighth seed sends real bytes: encoded, parsed and checked. */
function ofSeed(seed: number, isPlain: boolean): Pick<SimOptions, 'seed' | 'isEncoded'> {
  return { seed, isEncoded: !isPlain && seed % 8 === 0 }
}

function timed(options: SimOptions): SeedRun {
  const before = performance.now()
  const result = runSim(options)
  return { seed: options.seed, realMs: performance.now() - before, ...result }
}
