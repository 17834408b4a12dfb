import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { workerView } from '../output/worker-views.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<worker>', 'name or id')
    .action((name: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show(await client.drain(name), workerView)
      }),
    )
}
