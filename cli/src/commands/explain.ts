import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { explainView } from '../output/explain-view.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { JOB_HELP, resolveJob } from '../select/resolve-jobs.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<job>', JOB_HELP)
    .action((word: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        const explanation = await client.explain(await resolveJob(client, word))
        printerFor(cli.io, options).show(explanation, explainView(cli.io.config.command))
      }),
    )
}
