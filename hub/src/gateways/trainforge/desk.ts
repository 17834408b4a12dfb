import { Claims } from './claims.ts'
import type { TrainForgeContext } from './context.ts'
import { HandOut } from './hand-out.ts'
import type { Ledger } from './ledger.ts'
import { LiveOutput } from './live-output.ts'
import { Projects } from './projects.ts'
import { recall } from './recall.ts'
import { Registrar } from './registrar.ts'
import { Reports } from './reports.ts'
import { Results } from './results.ts'
import { RunnerDesk } from './runner-desk.ts'
import { Watchman } from './watchman.ts'

/** All who work on the one book of the gateway. */
export interface Desk {
  readonly ledger: Ledger
  readonly registrar: Registrar
  readonly reports: Reports
  readonly handOut: HandOut
  readonly projects: Projects
  readonly output: LiveOutput
  readonly results: Results
  readonly runners: RunnerDesk
  readonly claims: Claims
  readonly watchman: Watchman
}

export async function openDesk(context: TrainForgeContext): Promise<Desk> {
  const ledger = await recall(context)
  const output = new LiveOutput(context)
  const projects = new Projects(context)
  const registrar = new Registrar(context, ledger)
  const results = new Results(context)
  const reports = new Reports({ context, ledger, output, results })
  const handOut = new HandOut({ context, ledger, projects, reports, registrar })
  const runners = new RunnerDesk({ context, ledger, registrar, reports, output })
  const claims = new Claims({ context, ledger, handOut, reports })
  const watchman = new Watchman({ context, ledger, projects, reports, registrar, output })
  return { ledger, registrar, reports, handOut, projects, output, results, runners, claims, watchman }
}
