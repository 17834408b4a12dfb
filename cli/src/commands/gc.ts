import { formatSize } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .option('--dry-run', 'only say what would go')
    .action((options: OutputOptions & { readonly dryRun?: boolean }) =>
      withHub(cli.io, options, async client => {
        const isDry = options.dryRun === true
        printerFor(cli.io, options).show(isDry ? await client.gcPlan() : await client.gc(), gcView(isDry))
      }),
    )
}

function gcView(isDry: boolean): View<OutputOf<'gc'>> {
  return {
    ids: () => [],
    human: ({ jobs, logs, artifacts, content, uploads }) => {
      const part = (what: string, { count, bytes }: { count: number; bytes: number }) =>
        `${count} ${what} (${formatSize(bytes)})`
      const parts = [
        `${jobs.count} jobs`,
        part('pieces of output', logs),
        part('artifacts', artifacts),
        part('unused contents', content),
        part('unfinished uploads', uploads),
      ]
      return `${isDry ? 'Would go' : 'Gone'}: ${parts.join(', ')}.`
    },
  }
}
