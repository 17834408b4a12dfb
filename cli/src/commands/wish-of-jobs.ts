import type { Client } from '@stoker/client'
import type { Job } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { eachJob } from '../each-job.ts'
import { jobsView } from '../output/job-views.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'

/** A command that asks one thing of each job and shows them as they are then. */
export function defineWish(command: Command, cli: Cli, ask: (client: Client, id: string) => Promise<Job>): void {
  withOutput(command)
    .argument('<jobs...>', 'ids, or their last digits')
    .action((ids: string[], options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        const { done, failures, exitCode } = await eachJob(ids, id => ask(client, id))
        for (const { message } of failures) cli.io.stderr.write(`stoker: ${message}\n`)
        printerFor(cli.io, options).show({ jobs: done, failures }, jobsView)
        cli.exitWith(exitCode)
      }),
    )
}
