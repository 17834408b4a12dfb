import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { eachJob } from '../each-job.ts'
import { shortId } from '../output/job-words.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<jobs...>', 'ids, or their last digits')
    .action((ids: string[], options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        const { done, failures, exitCode } = await eachJob(ids, id => client.cancel(id))
        for (const { message } of failures) cli.io.stderr.write(`stoker: ${message}\n`)
        printerFor(cli.io, options).show({ canceled: done, failures }, canceledView)
        cli.exitWith(exitCode)
      }),
    )
}

const canceledView: View<OutputOf<'cancel'>> = {
  ids: ({ canceled }) => canceled.map(({ job }) => job.id),
  human: ({ canceled }) =>
    canceled
      .map(
        ({ effect, job }) =>
          `${shortId(job.id)}  ${effect === 'stopping' ? 'is being stopped' : 'canceled'}  ${plainText(job.name)}`,
      )
      .join('\n'),
}
