import type { Client } from '@stoker/client'
import type { Job, JobState } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { eachJob } from '../each-job.ts'
import { jobsView } from '../output/job-views.ts'
import { printerFor, withOutput } from '../output/printer.ts'
import { type ConfirmOptions, confirm, withConfirm } from '../select/confirm.ts'
import { JOBS_HELP, resolveJobs, type SelectOptions, withSelection } from '../select/resolve-jobs.ts'

/** What a command asks of jobs, and in which states labels alone mean them. */
interface Wish {
  readonly verb: string
  readonly states: readonly JobState[]
  readonly ask: (client: Client, id: string) => Promise<Job>
}

/** A command that asks one thing of each job and shows them as they are then. */
export function defineWish(command: Command, cli: Cli, { verb, states, ask }: Wish): void {
  withOutput(withConfirm(withSelection(command)))
    .argument('[jobs...]', JOBS_HELP)
    .action((words: string[], options: ConfirmOptions & SelectOptions) =>
      withHub(cli.io, options, async client => {
        const selection = await resolveJobs(client, words, options, states)
        await confirm(cli.io, verb, selection, options)
        const { done, failures, exitCode } = await eachJob(selection.ids, id => ask(client, id))
        for (const { message } of failures) cli.io.stderr.write(`stoker: ${message}\n`)
        printerFor(cli.io, options).show({ jobs: done, failures }, jobsView)
        cli.exitWith(exitCode)
      }),
    )
}
