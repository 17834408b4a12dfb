import type { Client } from '@stoker/client'
import { SessionPhase, type SessionView } from '@stoker/protocol'
import { type Command, Option } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { readySpec } from '../files/ready-spec.ts'
import { examples } from '../output/examples.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { sessionEndedView, sessionPageView, sessionView } from '../output/session-views.ts'
import { resolveSession, SESSION_HELP } from '../select/resolve-session.ts'
import { located } from '../spec/locate-issues.ts'
import { specFromWords } from '../spec/spec-from-words.ts'
import { type SpecOptions, wholeNumber, withStartOptions } from '../spec/spec-options.ts'
import { defineSend } from './session-send.ts'

interface SessionOptions {
  readonly concurrency?: number
  readonly queue?: number
  readonly idleTimeout?: string
  readonly maxLifetime?: string
  readonly restarts?: number
}
type StartOptions = SpecOptions & OutputOptions & SessionOptions
type ListOptions = OutputOptions & {
  readonly state?: SessionPhase
  readonly all?: boolean
  readonly preset?: string
  readonly owner?: string
  readonly limit?: number
  readonly cursor?: string
}

export function define(command: Command, cli: Cli): void {
  defineStart(command.command('start'), cli)
  defineSend(command.command('send'), cli)
  defineList(command.command('list'), cli)
  const about = (name: string, text: string, ask: (client: Client, ref: string) => Promise<SessionView>) =>
    withOutput(command.command(name).description(text))
      .argument('<session>', SESSION_HELP)
      .action((ref: string, options: OutputOptions) =>
        withHub(cli.io, options, async client => {
          printerFor(cli.io, options).show(await ask(client, await resolveSession(client, ref)), sessionView)
        }),
      )
  about('show', 'show a session with its tasks', (client, ref) => client.session(ref))
  about('keepalive', 'let its idle time begin anew', (client, ref) => client.keepSession(ref))
  withOutput(command.command('end').description('ask a session to leave; tasks that wait for it fail'))
    .argument('<session>', SESSION_HELP)
    .action((ref: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show(await client.endSession(await resolveSession(client, ref)), sessionEndedView)
      }),
    )
}

function defineStart(command: Command, cli: Cli): void {
  withOutput(withStartOptions(command.description('start a program that stays alive and takes tasks')))
    .usage(
      '[options] -- <program> [args...]\n       stoker session start [options] <file>\n       stoker session start --preset <name>',
    )
    .argument('[words...]', 'a program and its arguments behind --, or a job file (YAML or JSON)')
    .option('--concurrency <n>', 'tasks it takes at once (1)', wholeNumber)
    .option('--queue <n>', 'tasks that may wait for it (5)', wholeNumber)
    .option('--idle-timeout <duration>', 'it ends after so long without a task (5m)')
    .option('--max-lifetime <duration>', 'it ends after so long in any case (1h)')
    .option('--restarts <n>', 'how often it is started again after a crash (0)', wholeNumber)
    .addHelpText(
      'after',
      examples(
        ['session start --name echo --files echo.py -- python3 -u echo.py'],
        ['session start --gpus 1 llm.yaml'],
      ),
    )
    .action(async (words: string[], options: StartOptions) => {
      const found = await specFromWords('session start', words, cli, options)
      await withHub(cli.io, options, async client => {
        const asked = { ...found, spec: sessionOf(found.spec, options) }
        const { spec } = await readySpec(client, asked, options, cli.io)
        const started = await client.startSession(spec, { failFast: options.failFast }).catch(located([found]))
        printerFor(cli.io, options).show(started, sessionView)
      })
    })
}

function sessionOf(spec: Readonly<Record<string, unknown>>, of: SessionOptions): Readonly<Record<string, unknown>> {
  const { concurrency, queue, idleTimeout, maxLifetime, restarts } = of
  const own = Object.entries({ concurrency, queue, idleTimeout, maxLifetime, restarts }).filter(
    ([, value]) => value !== undefined,
  )
  const base = typeof spec.session === 'object' ? spec.session : {}
  const session = own.length === 0 ? spec.session : { ...base, ...Object.fromEntries(own) }
  return session === undefined ? spec : { ...spec, session }
}

function defineList(command: Command, cli: Cli): void {
  withOutput(command.description('list sessions that live; with --all, ended ones too'))
    .addOption(new Option('--state <state>', 'only these').choices(SessionPhase.options))
    .option('--all', 'ended ones too')
    .option('--preset <name>', 'only those made from this preset')
    .option('--owner <owner>', 'only sessions of this owner (admin)')
    .option('-n, --limit <n>', 'how many (50; at most 1000)', wholeNumber)
    .option('--cursor <cursor>', 'continue where a list ended')
    .action(({ json, quiet, context, all, ...filter }: ListOptions) =>
      withHub(cli.io, { context }, async client => {
        const page = await client.sessions(filter)
        const isShown = (session: SessionView) =>
          all === true || filter.state !== undefined || session.state !== 'ended'
        const shown = { ...page, sessions: page.sessions.filter(isShown) }
        printerFor(cli.io, { json, quiet }).show(shown, sessionPageView)
      }),
    )
}
