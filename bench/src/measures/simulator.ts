import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { race } from '../rounds.ts'
import type { Measure } from './ground.ts'

const run = promisify(execFile)
const JOBS = 20_000
/** In one process, as a search for faults goes through thousands: the first pays for compiling. */
const SEEDS = 3
const ARGS = ['--plain', '--jobs', String(JOBS), '--seeds', String(SEEDS), '--workers', '10', '--faults', 'none']
/** As a hub is started. */
const NODE_FLAGS = ['--max-semi-space-size=64']

/** Whole lives under virtual time: submit, placement, session, end, and the check of every guarantee. */
export const measureSimulator: Measure = async (_stage, { bundles }) => {
  const simulate = async () => {
    const { stdout } = await run(process.execPath, [
      ...NODE_FLAGS,
      join(bundles.distFolder, 'sim.js'),
      ...ARGS,
      '--json',
    ])
    const seeds: readonly { readonly realMs: number }[] = JSON.parse(stdout)
    if (seeds.length !== SEEDS) throw new Error(`${SEEDS} seeds should be simulated, the answer has ${seeds.length}`)
    return (JOBS * SEEDS * 1000) / seeds.reduce((sum, { realMs }) => sum + realMs, 0)
  }
  const figures = await race([{ name: 'ours', run: simulate }], { rounds: 5, budgetMs: 30_000, warmUps: 0 })
  return { simulator: { ours: figures.get('ours') ?? [], peers: {} } }
}
