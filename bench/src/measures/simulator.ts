import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { race } from '../rounds.ts'
import type { Measure } from './ground.ts'

const run = promisify(execFile)
const JOBS = 20_000
const ARGS = ['--plain', '--jobs', String(JOBS), '--workers', '10', '--faults', 'none', '--json']

/** Whole lives under virtual time: submit, placement, session, end, and the check of every guarantee. */
export const measureSimulator: Measure = async (_stage, { bundles }) => {
  const simulate = async () => {
    const { stdout } = await run(process.execPath, [join(bundles.distFolder, 'sim.js'), ...ARGS])
    const [seed]: readonly { readonly realMs: number }[] = JSON.parse(stdout)
    if (seed === undefined) throw new Error('one seed should be simulated, the answer has none')
    return (JOBS * 1000) / seed.realMs
  }
  const figures = await race([{ name: 'ours', run: simulate }], { rounds: 5, budgetMs: 30_000, warmUps: 0 })
  return { simulator: { ours: figures.get('ours') ?? [], peers: {} } }
}
