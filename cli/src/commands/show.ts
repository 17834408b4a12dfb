import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { jobDetailView } from '../output/job-views.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { JOB_HELP, resolveJob } from '../select/resolve-jobs.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<job>', JOB_HELP)
    .action((word: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show(await client.job(await resolveJob(client, word)), jobDetailView)
      }),
    )
}
