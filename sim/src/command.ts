import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { FAULT_NAMES, type FaultPlan, faultPlan, PROFILE_NAMES } from './faults.ts'
import { describeRuns, type SeedRun } from './report.ts'
import type { SimOptions } from './run.ts'
import { seedRunner } from './seed-runner.ts'

const USAGE = `usage: sim [--seed N] [--seeds COUNT] [--workers N] [--jobs N] [--gpus N] [--minutes N] [--faults NAME] [--plain] [--explain] [--sessions] [--threads N] [--json]
  --seeds    how many seeds, from --seed on
  --gpus     the most GPUs a worker may have
  --minutes  how long things go wrong, in virtual time
  --faults   ${PROFILE_NAMES.join(', ')}, or a comma list of ${FAULT_NAMES.join(', ')}
  --plain    one small kind of job in large batches, for measuring
  --explain  a few kinds of jobs, with starts that are predicted and compared
  --sessions sessions come and go among the jobs, and take tasks
  --threads  how many seeds at once; as many as there are processors`

const NUMBERS = {
  ...{ seed: '1', seeds: '1', workers: '5', jobs: '60', gpus: '4', minutes: '1' },
  threads: String(availableParallelism()),
}
type Asked = Readonly<Record<keyof typeof NUMBERS, number>> & {
  readonly plan: FaultPlan
  readonly faults: string
  readonly plain: boolean
  readonly explain: boolean
  readonly sessions: boolean
  readonly json: boolean
}

/** Several seeds at once, which come back in their order. */
type RunSideBySide = (seeds: readonly SimOptions[], threads: number) => Promise<readonly SeedRun[]>

/** Runs seeds; 0 if no guarantee broke, 1 if one did, 2 if it was asked wrongly. */
export async function simulate(
  args: readonly string[],
  print: (text: string) => void,
  sideBySide: RunSideBySide,
): Promise<0 | 1 | 2> {
  if (args.includes('--help')) {
    print(USAGE)
    return 0
  }
  const asked = read(args)
  if (typeof asked === 'string') {
    print(`${asked}\n${USAGE}`)
    return 2
  }
  const seeds = Array.from({ length: asked.seeds }, (_, index) => optionsOf(asked, asked.seed + index))
  const threads = Math.min(asked.threads, seeds.length)
  const before = performance.now()
  const runs = threads > 1 ? await sideBySide(seeds, threads) : seeds.map(seedRunner(seeds.length))
  print(asked.json ? JSON.stringify(runs) : describeRuns(runs, flagsOf(asked), performance.now() - before))
  return runs.some(run => run.violations.length > 0) ? 1 : 0
}

/** What was asked, or the sentence that says why it cannot be done. */
function read(args: readonly string[]): Asked | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        ...(Object.fromEntries(Object.keys(NUMBERS).map(name => [name, { type: 'string' }])) as Record<
          keyof typeof NUMBERS,
          { type: 'string' }
        >),
        faults: { type: 'string', default: 'light' },
        plain: { type: 'boolean', default: false },
        explain: { type: 'boolean', default: false },
        sessions: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
      },
    })
    const plan = faultPlan(values.faults)
    if (plan === null) return `there are no faults called "${values.faults}"`
    const number = (name: keyof typeof NUMBERS) => positive(name, values[name] ?? NUMBERS[name])
    const { faults, plain, explain, sessions, json } = values
    const counts = { seed: number('seed'), seeds: number('seeds'), workers: number('workers'), jobs: number('jobs') }
    const more = { gpus: number('gpus'), minutes: number('minutes'), threads: number('threads') }
    return { ...counts, ...more, plan, faults, plain, explain, sessions, json }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value >= 0) || (name !== 'minutes' && !Number.isInteger(value)))
    throw new Error(`--${name} is a number of 0 or more, found "${text}"`)
  return value
}

/** Every eighth seed sends real bytes: encoded, parsed and checked. */
function optionsOf({ workers, jobs, gpus, plan, minutes, plain, explain, sessions }: Asked, seed: number): SimOptions {
  const world = { seed, workers, jobs, maxGpus: gpus, plan, faultMs: minutes * 60_000 }
  const isPlain = plain || explain
  const isEncoded = !isPlain && seed % 8 === 0
  return { ...world, isPlain, isEncoded, hasSchedule: false, hasSessions: sessions, plant: null, asksWhen: explain }
}

function flagsOf({ workers, jobs, gpus, minutes, faults, plain, explain, sessions }: Asked): string {
  const flags = `--workers ${workers} --jobs ${jobs} --gpus ${gpus} --minutes ${minutes} --faults ${faults}`
  return `${flags}${plain ? ' --plain' : ''}${explain ? ' --explain' : ''}${sessions ? ' --sessions' : ''}`
}
