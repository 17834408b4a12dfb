import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { shortId } from '../output/job-words.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { JOB_HELP, resolveJob } from '../select/resolve-jobs.ts'
import { wholeNumber } from '../spec/spec-options.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<job>', JOB_HELP)
    .argument('<priority>', '-100 to 100, higher first', wholeNumber)
    .action((id: string, priority: number, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        const job = await client.setPriority(await resolveJob(client, id), priority)
        printerFor(cli.io, options).show({ job }, priorityView)
      }),
    )
}

const priorityView: View<OutputOf<'priority'>> = {
  ids: ({ job }) => [job.id],
  human: ({ job }) => `${shortId(job.id)}  priority ${job.priority}  ${plainText(job.name)}`,
}
