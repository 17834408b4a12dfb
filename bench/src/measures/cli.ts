import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { race } from '../rounds.ts'
import type { Measure } from './ground.ts'

const run = promisify(execFile)

/** What a user waits for before the first letter of help, beside a Node that does nothing. */
export const measureCli: Measure = async (_stage, { bundles }) => {
  const bundle = join(bundles.distFolder, 'stoker.js')
  const launcher = join(bundles.distFolder, '..', 'bin', 'stoker.js')
  if (!existsSync(bundle)) {
    const reason = { notMeasured: 'the bundles have no stoker.js' }
    return { cliHelp: { ours: reason, peers: { 'node -e 0': reason } } }
  }
  const script = existsSync(launcher) ? launcher : bundle
  const figures = await race(
    [
      { name: 'ours', run: () => timeOf([script, '--help']) },
      { name: 'node -e 0', run: () => timeOf(['-e', '0']) },
    ],
    { rounds: 11, budgetMs: 4_500 },
  )
  return { cliHelp: { ours: figures.get('ours') ?? [], peers: { 'node -e 0': figures.get('node -e 0') ?? [] } } }
}

async function timeOf(args: readonly string[]): Promise<number> {
  const startedAt = performance.now()
  await run(process.execPath, args)
  return performance.now() - startedAt
}
