import { isTerminal } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { showOrWatch, type WatchOptions, withWatch } from '../follow/watch.ts'
import { jobDetailView } from '../output/job-views.ts'
import { withOutput } from '../output/printer.ts'
import { JOB_HELP, resolveJob } from '../select/resolve-jobs.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(withWatch(command))
    .argument('<job>', JOB_HELP)
    .action((word: string, options: WatchOptions) =>
      withHub(cli.io, options, async client => {
        const id = await resolveJob(client, word)
        await showOrWatch(cli.io, client, options, {
          take: () => client.job(id),
          view: jobDetailView,
          isOver: job => isTerminal(job.state),
        })
      }),
    )
}
