import { JobState, nearest } from '@stoker/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { jobPageView } from '../output/job-views.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { gatherText, wholeNumber } from '../spec/spec-options.ts'
import { gatherPages } from './list-pages.ts'

interface ListOptions extends OutputOptions {
  readonly state?: readonly JobState[]
  readonly type?: string
  readonly worker?: string
  readonly name?: string
  readonly owner?: string
  readonly group?: string
  readonly label?: readonly string[]
  readonly limit?: number
  readonly cursor?: string
}

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .option('--state <states>', `only these, comma-separated: ${JobState.options.join(', ')}`, statesOf)
    .option('--type <type>', 'only this type')
    .option('--worker <name>', 'only jobs that ran on this worker')
    .option('--name <name>', 'only jobs with this name')
    .option('--owner <owner>', 'only jobs of this owner (admin)')
    .option('--group <id>', 'only members of this group')
    .option('--label <K=V>', 'only jobs with this label (repeatable)', gatherText)
    .option('-n, --limit <n>', 'how many (50; at most 1000)', wholeNumber)
    .option('--cursor <cursor>', 'continue where a list ended')
    .action(async ({ json, quiet, context, ...filter }: ListOptions) => {
      await withHub(cli.io, { context }, async client => {
        const printer = printerFor(cli.io, { json, quiet })
        const { page, isShort } = await gatherPages(client, filter)
        printer.show(page, jobPageView)
        if (isShort) printer.note('more jobs may match: the list stopped before it had looked at all of them')
      })
    })
}

function statesOf(text: string): JobState[] {
  return text.split(',').map(word => {
    const state = JobState.safeParse(word.trim())
    if (state.success) return state.data
    const close = nearest(word, JobState.options)
    throw new InvalidArgumentError(close === null ? `"${word}" is no state.` : `Did you mean "${close}"?`)
  })
}
