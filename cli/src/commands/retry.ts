import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { eachJob } from '../each-job.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<jobs...>', 'ids of ended jobs, or their last digits')
    .action((ids: string[], options: OutputOptions) =>
      withHub(cli.io, options, async client => {
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
  human: ({ jobs }) => jobs.map(job => `${job.id}  again for ${job.retryOf}`).join('\n'),
}
