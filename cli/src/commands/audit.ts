import type { AuditEntry } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { ago } from '../output/job-words.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { type Column, table } from '../output/table.ts'
import { wholeNumber } from '../spec/spec-options.ts'

interface AuditOptions extends OutputOptions {
  readonly limit?: number
  readonly cursor?: string
}

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .option('-n, --limit <n>', 'how many (50; at most 1000)', wholeNumber)
    .option('--cursor <cursor>', 'continue where a list ended')
    .action(({ json, quiet, context, ...page }: AuditOptions) =>
      withHub(cli.io, { context }, async client => {
        printerFor(cli.io, { json, quiet }).show(await client.audit(page), auditView)
      }),
    )
}

const auditView: View<OutputOf<'audit'>> = {
  ids: ({ entries }) => entries.map(entry => entry.id),
  human: ({ entries, next }, paper) => {
    if (entries.length === 0) return 'nothing was done yet that is written down'
    const columns: Column<AuditEntry>[] = [
      { title: 'WHEN', cell: entry => ago(entry.at, paper.now) },
      { title: 'WHO', cell: ({ by }) => (by.label === '' ? by.owner : `${by.owner} (${by.label})`), shrinkTo: 5 },
      { title: 'FROM', cell: entry => entry.from, shrinkTo: 4, importance: 1 },
      { title: 'ACTION', cell: entry => entry.action, shrinkTo: 8 },
      { title: 'TARGET', cell: entry => entry.target, shrinkTo: 4 },
      { title: 'STATUS', cell: entry => (entry.status === null ? 'not known' : String(entry.status)) },
    ]
    const more = next === null ? [] : [`more: stoker audit --cursor ${next}`]
    return [table(columns, entries, paper), ...more].join('\n')
  },
}
