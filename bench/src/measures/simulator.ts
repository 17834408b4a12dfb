import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { nodeFlags } from '../../../cli/src/processes/node-flags.ts'
import type { Measure } from './ground.ts'

const run = promisify(execFile)
const JOBS = 20_000
/** In one process, as a search for faults goes through thousands: the first ones of each thread pay for compiling. */
const SEEDS = 20
const ROUNDS = 3
const ARGS = ['--plain', '--jobs', String(JOBS), '--seeds', String(SEEDS), '--workers', '10', '--faults', 'none']

/** Whole lives under virtual time: submit, placement, session, end, and the check of every guarantee; from the start of the program to its end. */
export const measureSimulator: Measure = async (_stage, { bundles }) => {
  const program = join(bundles.distFolder, 'sim.js')
  const rates: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const before = performance.now()
    const { stdout } = await run(process.execPath, [...nodeFlags(program), program, ...ARGS, '--json'])
    rates.push((SEEDS * JOBS * 1000) / (performance.now() - before))
    const { length }: readonly unknown[] = JSON.parse(stdout)
    if (length !== SEEDS) throw new Error(`${SEEDS} seeds should be simulated, the answer has ${length}`)
  }
  return { simulator: { ours: rates, peers: {} } }
}
