import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { jobDetailView } from '../output/job-views.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<job>', 'id, or its last digits')
    .action((id: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show(await client.job(id), jobDetailView)
      }),
    )
}
