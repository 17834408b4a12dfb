import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { workerDetailView, workersView } from '../output/worker-views.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('[worker]', 'name or id of one to show')
    .option('--remove <worker>', 'forget a worker that has no work')
    .action((name: string | undefined, options: OutputOptions & { readonly remove?: string }) =>
      withHub(cli.io, options, async client => {
        if (options.remove !== undefined) await client.removeWorker(options.remove)
        const out = printerFor(cli.io, options)
        if (name === undefined) out.show({ workers: [...(await client.workers())] }, workersView)
        else out.show(await client.worker(name), workerDetailView)
      }),
    )
}
