import { parseArgs } from 'node:util'
import { GOALS } from './goals/goals.ts'

/** What a plain run measures, in three minutes. */
const SHORT = ['submit', 'bulk', 'memory', 'latency', 'processes', 'sandbox', 'noop', 'recovery', 'cli'] as const
/** What only `--all` measures. */
const LONG = [
  'peers-submit',
  'peers-bulk',
  'peers-noop',
  'peers-start',
  'peers-program-start',
  'peers-processes',
  'backlog',
  'shapes',
  'idle-workers',
  'idle-cpu',
  'simulator',
  'curves',
  'uploads',
  'log-latency',
  'sse-fan-out',
  'beside-cpu',
  'worker-recovery',
  'start-stall',
  'container-job',
  'session-rate',
  'session-hand-over',
  'text-delta',
  'streaming-clients',
  'qubix',
  'soak',
] as const
export const MEASURES = [...SHORT, ...LONG] as const
export type MeasureName = (typeof MEASURES)[number]

export interface BenchOptions {
  readonly only: readonly MeasureName[]
  /** Nothing of what only `--all` measures is wanted. */
  readonly isShort: boolean
  /** Well above what the run takes; a bench that hangs is stopped by its own hand. */
  readonly longestMs: number
  /** How long what a slow host disturbed may be measured again. */
  readonly repeatMs: number
  readonly outFile: string
  readonly markdown: boolean
  readonly distFolder: string
  /** Where V8 profiles of hub and worker go, if they are wanted; they slow both down. */
  readonly profileFolder: string | null
  readonly soakMinutes: number
  /** Where programs are looked for. */
  readonly path: string
}

export const USAGE = `npm run bench -- [options]
  --all             also ${LONG.join(', ')}
  --only a,b        only these
  --soak-minutes N  how long soak takes (20)
  --repeat-minutes N  how long what a slow host disturbed is measured again (20; not in the short run)
  --out FILE        where the figures go as JSON (bench/results/latest.json)
  --markdown        print the table for docs/performance.md
  --dist FOLDER     the bundles to measure (cli/dist)
  --profile FOLDER  write CPU and heap profiles of hub and worker there, and a flame graph of each; the figures are then not worth keeping
Exit code: 0 all ${Object.keys(GOALS).length} goals that could be measured are met, 1 one is missed, 2 the bench itself failed.`

/** The only place that reads the command line and the environment. */
export function readOptions(argv: readonly string[]): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      all: { type: 'boolean', default: false },
      only: { type: 'string' },
      'soak-minutes': { type: 'string', default: '20' },
      'repeat-minutes': { type: 'string', default: '20' },
      out: { type: 'string', default: 'bench/results/latest.json' },
      markdown: { type: 'boolean', default: false },
      dist: { type: 'string', default: 'cli/dist' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  const soakMinutes = minutesOf('soak-minutes', 1, values)
  const repeatMinutes = minutesOf('repeat-minutes', 0, values)
  const only = values.only?.split(',').map(measureOf) ?? (values.all ? MEASURES : SHORT)
  const isShort = only.every(name => SHORT.some(short => short === name))
  return {
    only,
    isShort,
    longestMs: (isShort ? 5 : 60 + soakMinutes + 2 * repeatMinutes) * 60_000,
    repeatMs: isShort ? 0 : repeatMinutes * 60_000,
    soakMinutes,
    outFile: values.out,
    markdown: values.markdown,
    distFolder: values.dist,
    profileFolder: values.profile ?? null,
    path: process.env.PATH ?? '/usr/bin:/bin',
  }
}

function minutesOf<N extends string>(name: N, least: number, values: Readonly<Record<N, string>>): number {
  const minutes = Number(values[name])
  if (!(minutes >= least)) throw new Error(`--${name} is ${least} or more, found ${JSON.stringify(values[name])}`)
  return minutes
}

function measureOf(name: string): MeasureName {
  const known = MEASURES.find(measure => measure === name)
  if (known === undefined) throw new Error(`--only found ${JSON.stringify(name)}; allowed: ${MEASURES.join(', ')}`)
  return known
}
