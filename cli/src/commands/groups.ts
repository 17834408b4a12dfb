import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { groupPageView } from '../output/group-views.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { wholeNumber } from '../spec/spec-options.ts'

interface GroupsOptions extends OutputOptions {
  readonly owner?: string
  readonly limit?: number
  readonly cursor?: string
}

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .option('--owner <owner>', 'only groups of this owner (admin)')
    .option('-n, --limit <n>', 'how many (50; at most 1000)', wholeNumber)
    .option('--cursor <cursor>', 'continue where a list ended')
    .action(({ json, quiet, context, ...filter }: GroupsOptions) =>
      withHub(cli.io, { context }, async client => {
        printerFor(cli.io, { json, quiet }).show(await client.groups(filter), groupPageView)
      }),
    )
}
