import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { jobsView } from '../output/job-views.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { wholeNumber } from '../spec/spec-options.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<job>', 'id, or its last digits')
    .argument('<priority>', '-100 to 100, higher first', wholeNumber)
    .action((id: string, priority: number, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show({ jobs: [await client.setPriority(id, priority)] }, jobsView)
      }),
    )
}
