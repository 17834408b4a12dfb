import type { Command } from 'commander'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import type { OutputOptions } from '../output/printer.ts'
import type { Selection } from './resolve-jobs.ts'

/** So many are meant; more are easily a mistake. */
const UNASKED = 10

export interface ConfirmOptions extends OutputOptions {
  readonly yes?: boolean | undefined
}

export function withConfirm(command: Command): Command {
  return command.option('-y, --yes', `do not ask before more than ${UNASKED} jobs`)
}

/** Asks a person before something is done to many jobs that were not named one by one; a script must say --yes. */
export async function confirm(io: Io, verb: string, { ids, isNamed }: Selection, of: ConfirmOptions): Promise<void> {
  if (isNamed || ids.length <= UNASKED || of.yes === true) return
  const canAsk = of.json !== true && of.quiet !== true
  const answer = canAsk ? await io.ask(`${verb} ${ids.length} jobs? [y/N] `) : null
  if (answer === null)
    throw new Failure(`${verb} ${ids.length} jobs: more than ${UNASKED} need --yes where nobody can be asked`, {
      exitCode: EXIT.usage,
      code: 'cli.unconfirmed',
    })
  if (!/^y(es)?$/i.test(answer.trim()))
    throw new Failure('nothing was done', { exitCode: EXIT.error, code: 'cli.unconfirmed' })
}
