import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { eachJob } from '../each-job.ts'
import { examples } from '../output/examples.ts'
import { printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { type ConfirmOptions, confirm, withConfirm } from '../select/confirm.ts'
import { notRetried } from '../select/not-retried.ts'
import { JOBS_HELP, resolveJobs, type SelectOptions, withSelection } from '../select/resolve-jobs.ts'

type RetryOptions = ConfirmOptions & SelectOptions

const UNSUCCESSFUL = ['failed', 'timed_out'] as const

export function define(command: Command, cli: Cli): void {
  withOutput(withConfirm(withSelection(command)))
    .argument('[jobs...]', JOBS_HELP)
    .addHelpText(
      'after',
      examples(
        ['retry last'],
        ['retry failed', 'your failed jobs that were not retried yet'],
        ['retry -l exp=7', 'those of them with this label'],
      ),
    )
    .action((words: string[], options: RetryOptions) =>
      withHub(cli.io, options, async client => {
        const selection = await notRetried(client, await resolveJobs(client, words, options, UNSUCCESSFUL), options)
        await confirm(cli.io, 'retry', selection, options)
        const { ids } = selection
        const again = async (id: string) => ({ ...(await client.retry(id)), retryOf: id })
        const { done, failures, exitCode } = await eachJob(ids, again)
        for (const { message } of failures) cli.io.stderr.write(`stoker: ${message}\n`)
        printerFor(cli.io, options).show({ jobs: done, failures }, retriedView)
        cli.exitWith(exitCode)
      }),
    )
}

const retriedView: View<OutputOf<'retry'>> = {
  ids: ({ jobs }) => jobs.map(job => job.id),
  human: ({ jobs, failures }) =>
    jobs.length + failures.length === 0
      ? 'no job to retry'
      : jobs.map(job => `${job.id}  again for ${job.retryOf}`).join('\n'),
}
