import type { LogOptions } from '@stoker/client'
import { type Command, Option } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { followLogs } from '../follow/follow-logs.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { wholeNumber } from '../spec/spec-options.ts'

type LogsOptions = OutputOptions & Omit<LogOptions, 'signal'>

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<job>', 'id, or its last digits')
    .option('-f, --follow', 'go on until the job ends')
    .option('--tail <n>', 'only the last lines', wholeNumber)
    .option('--since <when>', 'only what came since then: 10m, or 2026-01-31T12:00:00Z')
    .option('--attempt <n>', 'of this attempt instead of the last', wholeNumber)
    .addOption(new Option('--stream <name>', 'only this stream').choices(['stdout', 'stderr']))
    .action((id: string, options: LogsOptions) => logs(id, options, cli))
}

async function logs(id: string, options: LogsOptions, cli: Cli): Promise<void> {
  const { json, quiet, context, ...which } = options
  await withHub(cli.io, { context }, async client => {
    if (json !== true && quiet !== true) {
      for await (const part of followLogs(client, id, which)) cli.io.stdout.write(part)
      return
    }
    const job = await client.job(id)
    const parts: Uint8Array[] = []
    for await (const part of followLogs(client, id, which)) parts.push(part)
    printerFor(cli.io, options).show({ id: job.id, text: Buffer.concat(parts).toString('utf8') }, logView)
  })
}

const logView: View<OutputOf<'logs'>> = { ids: ({ id }) => [id], human: ({ text }) => text }
