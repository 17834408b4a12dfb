import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { eachJob } from '../each-job.ts'
import { examples } from '../output/examples.ts'
import { shortId } from '../output/job-words.ts'
import { plainText } from '../output/plain-text.ts'
import { printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { type ConfirmOptions, confirm, withConfirm } from '../select/confirm.ts'
import { JOBS_HELP, resolveJobs, type SelectOptions, withSelection } from '../select/resolve-jobs.ts'

type CancelOptions = ConfirmOptions & SelectOptions

/** Labels alone mean what can still be canceled. */
const LIVE = ['waiting', 'queued', 'active'] as const

export function define(command: Command, cli: Cli): void {
  withOutput(withConfirm(withSelection(command)))
    .argument('[jobs...]', JOBS_HELP)
    .addHelpText(
      'after',
      examples(['cancel last'], ['cancel queued -l exp=7', 'what has not started yet'], ['cancel -l exp=7 --yes']),
    )
    .action((words: string[], options: CancelOptions) =>
      withHub(cli.io, options, async client => {
        const selection = await resolveJobs(client, words, options, LIVE)
        await confirm(cli.io, 'cancel', selection, options)
        const { ids } = selection
        const { done, failures, exitCode } = await eachJob(ids, id => client.cancel(id))
        for (const { message } of failures) cli.io.stderr.write(`stoker: ${message}\n`)
        printerFor(cli.io, options).show({ canceled: done, failures }, canceledView)
        cli.exitWith(exitCode)
      }),
    )
}

const canceledView: View<OutputOf<'cancel'>> = {
  ids: ({ canceled }) => canceled.map(({ job }) => job.id),
  human: ({ canceled, failures }) =>
    (canceled.length + failures.length === 0 ? 'no job to cancel' : '') ||
    canceled
      .map(
        ({ effect, job }) =>
          `${shortId(job.id)}  ${effect === 'stopping' ? 'is being stopped' : 'canceled'}  ${plainText(job.name)}`,
      )
      .join('\n'),
}
