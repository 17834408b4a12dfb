import type { Client } from '@stoker/client'
import type { NewSchedule, Schedule } from '@stoker/protocol'
import { type Command, Option } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import { schedulePageView, scheduleView } from '../output/schedule-views.ts'
import type { OutputOf } from '../output/schemas.ts'
import { specFromWords } from '../spec/spec-from-words.ts'
import { applySpecOptions, type SpecOptions, wholeNumber, withSpecOptions } from '../spec/spec-options.ts'
import { applySweepOptions, type SweepOptions, withSweepOptions } from '../spec/sweep-options.ts'

type Rhythm = Pick<NewSchedule, 'cron' | 'timezone' | 'overlap' | 'catchUp'>
type AddOptions = SpecOptions & SweepOptions & OutputOptions & Rhythm & { readonly paused?: boolean }
type ListOptions = OutputOptions & { readonly owner?: string; readonly limit?: number; readonly cursor?: string }

export function define(command: Command, cli: Cli): void {
  defineAdd(command.command('add'), cli)
  withOutput(command.command('list').description('list schedules with their next and last run'))
    .option('--owner <owner>', 'only schedules of this owner (admin)')
    .option('-n, --limit <n>', 'how many (100; at most 1000)', wholeNumber)
    .option('--cursor <cursor>', 'continue where a list ended')
    .action(({ json, quiet, context, ...filter }: ListOptions) =>
      withHub(cli.io, { context }, async client => {
        printerFor(cli.io, { json, quiet }).show(await client.schedules(filter), schedulePageView)
      }),
    )
  const about = (name: string, text: string, ask: (client: Client, ref: string) => Promise<Schedule>) =>
    withOutput(command.command(name).description(text))
      .argument('<schedule>', 'name or id')
      .action((ref: string, options: OutputOptions) =>
        withHub(cli.io, options, async client => {
          printerFor(cli.io, options).show(await ask(client, ref), scheduleView)
        }),
      )
  about('show', 'show a schedule with its spec', (client, ref) => client.schedule(ref))
  about('pause', 'let no more runs begin', (client, ref) => client.changeSchedule(ref, { enabled: false }))
  about('resume', 'go on with the next time from now', (client, ref) => client.changeSchedule(ref, { enabled: true }))
  about('run', 'run it now, also when it is paused', (client, ref) => client.runSchedule(ref))
  withOutput(command.command('remove').description('remove a schedule; its jobs stay'))
    .argument('<schedule>', 'name or id')
    .action((ref: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        await client.removeSchedule(ref)
        printerFor(cli.io, options).show({ removed: ref }, removedView)
      }),
    )
}

function defineAdd(command: Command, cli: Cli): void {
  withOutput(withSweepOptions(withSpecOptions(command.description('run a job again and again'))))
    .usage(
      '[options] <name> --cron <pattern> <file>\n       stoker schedule add [options] <name> --cron <pattern> -- <program> [args...]',
    )
    .argument('<schedule>', 'name of the schedule')
    .argument('[words...]', 'a program and its arguments behind --, or a job file (YAML or JSON)')
    .requiredOption('--cron <pattern>', 'minute hour day month weekday, like "0 3 * * *", or @daily')
    .option('--timezone <name>', 'whose clock the pattern is read by, like Europe/Berlin (UTC)')
    .addOption(
      new Option('--overlap <what>', 'when the run before has not ended (skip)').choices(['allow', 'skip', 'replace']),
    )
    .addOption(new Option('--catch-up <what>', 'for times when the hub was away (none)').choices(['none', 'one']))
    .option('--paused', 'do not begin yet')
    .action(async (name: string, words: string[], options: AddOptions) => {
      const found = await specFromWords('schedule add', words, cli, options.preset)
      const spec = applySweepOptions(applySpecOptions(found.spec, options), options)
      const { cron, timezone, overlap, catchUp, paused } = options
      await withHub(cli.io, options, async client => {
        const enabled = paused !== true
        const made = await client.createSchedule({ name, cron, timezone, overlap, catchUp, enabled, spec })
        printerFor(cli.io, options).show(made, scheduleView)
      })
    })
}

const removedView: View<OutputOf<'schedule remove'>> = {
  ids: ({ removed }) => [removed],
  human: ({ removed }) => `${removed} removed`,
}
