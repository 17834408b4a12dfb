import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { showOrWatch, type WatchOptions, withWatch } from '../follow/watch.ts'
import { withOutput } from '../output/printer.ts'
import { workerDetailView, workersView } from '../output/worker-views.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(withWatch(command))
    .argument('[worker]', 'name or id of one to show')
    .option('--remove <worker>', 'forget a worker that has no work')
    .action((name: string | undefined, options: WatchOptions & { readonly remove?: string }) =>
      withHub(cli.io, options, async client => {
        if (options.remove !== undefined) await client.removeWorker(options.remove)
        const all = async () => ({ workers: [...(await client.workers())] })
        if (name === undefined) await showOrWatch(cli.io, client, options, { take: all, view: workersView })
        else await showOrWatch(cli.io, client, options, { take: () => client.worker(name), view: workerDetailView })
      }),
    )
}
