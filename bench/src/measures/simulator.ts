import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { nodeFlags } from '../../../cli/src/processes/node-flags.ts'
import type { Measure } from './ground.ts'

const run = promisify(execFile)
const JOBS = 20_000
/** In one process, as a search for faults goes through thousands; the first ones pay for compiling and show in the spread. */
const SEEDS = 11
const ARGS = ['--plain', '--jobs', String(JOBS), '--seeds', String(SEEDS), '--workers', '10', '--faults', 'none']

/** Whole lives under virtual time: submit, placement, session, end, and the check of every guarantee. */
export const measureSimulator: Measure = async (_stage, { bundles }) => {
  const program = join(bundles.distFolder, 'sim.js')
  const { stdout } = await run(process.execPath, [...nodeFlags(program), program, ...ARGS, '--json'])
  const seeds: readonly { readonly realMs: number }[] = JSON.parse(stdout)
  if (seeds.length !== SEEDS) throw new Error(`${SEEDS} seeds should be simulated, the answer has ${seeds.length}`)
  return { simulator: { ours: seeds.map(({ realMs }) => (JOBS * 1000) / realMs), peers: {} } }
}
