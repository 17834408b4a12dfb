import { JobState, nearest } from '@stoker/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { showOrWatch, type WatchOptions, withWatch } from '../follow/watch.ts'
import type { Io } from '../io.ts'
import { examples } from '../output/examples.ts'
import { hint } from '../output/hints.ts'
import { jobPageView } from '../output/job-views.ts'
import { type Printer, printerFor, withOutput } from '../output/printer.ts'
import { gatherPages } from '../select/list-pages.ts'
import { gatherText, wholeNumber } from '../spec/spec-options.ts'

interface ListOptions extends WatchOptions {
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
  withOutput(withWatch(command))
    .option('--state <states>', `only these, comma-separated: ${JobState.options.join(', ')}`, statesOf)
    .option('--type <type>', 'only this type')
    .option('--worker <name>', 'only jobs that ran on this worker')
    .option('--name <name>', 'only jobs with this name')
    .option('--owner <owner>', 'only jobs of this owner (admin)')
    .option('--group <id>', 'only members of this group')
    .option('-l, --label <K=V>', 'only jobs with this label (repeatable)', gatherText)
    .option('-n, --limit <n>', 'how many (50; at most 1000)', wholeNumber)
    .option('--cursor <cursor>', 'continue where a list ended')
    .addHelpText('after', examples(['list --state active,queued --watch'], ['list -l exp=7 --json'], ['list -q -n 1']))
    .action(async ({ json, quiet, context, watch, ...filter }: ListOptions) => {
      await withHub(cli.io, { context }, async client => {
        const printer = printerFor(cli.io, { json, quiet })
        if (watch !== undefined) {
          const take = async () => (await gatherPages(client, filter)).page
          return showOrWatch(cli.io, client, { json, quiet, watch }, { take, view: jobPageView })
        }
        const { page, isShort } = await gatherPages(client, filter)
        printer.show(page, jobPageView)
        if (page.jobs.length === 0 && page.next === null) sayEmpty(cli.io, printer, filter)
        if (isShort) printer.note('more jobs may match: the list stopped before it had looked at all of them')
      })
    })
}

/** An empty list of everything is a beginning; one that was narrowed may be narrowed wrongly. */
function sayEmpty(io: Io, printer: Printer, filter: Omit<ListOptions, keyof WatchOptions>): void {
  const { limit: _, cursor: __, ...narrowed } = filter
  hint(io, printer, Object.keys(narrowed).length === 0 ? 'run -- echo hi' : 'list')
}

function statesOf(text: string): JobState[] {
  return text.split(',').map(word => {
    const state = JobState.safeParse(word.trim())
    if (state.success) return state.data
    const close = nearest(word, JobState.options)
    throw new InvalidArgumentError(close === null ? `"${word}" is no state.` : `Did you mean "${close}"?`)
  })
}
