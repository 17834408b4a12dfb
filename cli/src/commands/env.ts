import { join, resolve } from 'node:path'
import { EnvironmentList, EnvironmentsPruned, EnvironmentWarmed, PROGRAM_TYPES } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { Screen } from '../follow/screen.ts'
import { environmentsView, prunedView, warmedView } from '../output/environment-views.ts'
import { examples } from '../output/examples.ts'
import { cutTo } from '../output/plain-text.ts'
import { type OutputOptions, printerFor } from '../output/printer.ts'
import { runEnv } from '../processes/env-process.ts'

interface EnvOptions extends OutputOptions {
  readonly data?: string
  readonly environments?: string
  readonly programs?: string
  readonly envLimit?: string
}
interface WarmOptions extends EnvOptions {
  readonly allowUnsandboxed?: boolean
  readonly allowHostNetwork?: boolean
}

export function define(command: Command, cli: Cli): void {
  command.addHelpText('after', examples(['env list'], ['env warm mnist_training'], ['env prune --limit 5GB']))
  withEnvOptions(command.command('list').description('list the Python packages installed for jobs'), cli).action(
    (options: EnvOptions) => list(options, cli),
  )
  withEnvOptions(command.command('warm').description('install packages before a job needs them'), cli)
    .argument('<what>', `a type of programs (${PROGRAM_TYPES.join(', ')}) or a requirements.txt`)
    .option('--allow-unsandboxed', 'install even where no sandbox works')
    .option('--allow-host-network', 'let pip use the network of this machine, for an index on a private one')
    .action((what: string, options: WarmOptions) => warm(what, options, cli))
  withEnvOptions(
    command.command('prune').description('remove what was not used for longest; never what is in use'),
    cli,
  )
    .option('--limit <size>', 'remove until so much is left (what --env-limit allows)')
    .option('--all', 'remove everything that is not in use')
    .action((options: EnvOptions & { readonly limit?: string; readonly all?: boolean }) => prune(options, cli))
}

function withEnvOptions(command: Command, cli: Cli): Command {
  return command
    .option('--data <folder>', `where the worker keeps everything (${cli.io.config.dataFolder})`)
    .option('--environments <folder>', 'where packages are installed (environments in the data of the worker)')
    .option('--programs <folder>', 'programs of job types (those that come along)')
    .option('--env-limit <size>', 'how much the worker keeps (20GB)')
    .option('--json', 'print exactly one JSON value (see: stoker schema)')
    .option('-q, --quiet', 'print keys only')
}

const SILENT = { onWords: () => {}, onProgress: () => {} }

async function list(options: EnvOptions, { io }: Cli): Promise<void> {
  const found = EnvironmentList.parse(await runEnv(io, ['list', ...argsOf(options, io.config.dataFolder)], SILENT))
  printerFor(io, options).show(found, environmentsView)
}

async function warm(what: string, options: WarmOptions, { io }: Cli): Promise<void> {
  const isForPeople = options.json !== true && options.quiet !== true
  const screen = new Screen(io)
  const args = [
    ...['warm', ...argsOf(options, io.config.dataFolder)],
    ...(options.allowUnsandboxed === true ? ['--allow-unsandboxed'] : []),
    ...(options.allowHostNetwork === true ? ['--allow-host-network'] : []),
    ...['--', what],
  ]
  const watch = {
    onWords: (text: string) => screen.raw(io.stderr, text),
    onProgress: ({ operation }: { readonly operation: string | null }) =>
      screen.status(columns => cutTo(operation ?? '', columns)),
  }
  try {
    const made = EnvironmentWarmed.parse(await runEnv(io, args, isForPeople ? watch : SILENT))
    screen.end()
    printerFor(io, options).show(made, warmedView)
  } finally {
    screen.end()
  }
}

async function prune(
  options: EnvOptions & { readonly limit?: string; readonly all?: boolean },
  { io }: Cli,
): Promise<void> {
  if (options.all === true && options.limit !== undefined)
    throw new Failure('found --all and --limit; one of them says how much is left', { exitCode: EXIT.usage })
  const limit = options.all === true ? ['--limit', '0'] : options.limit === undefined ? [] : ['--limit', options.limit]
  const args = ['prune', ...argsOf(options, io.config.dataFolder), ...limit]
  printerFor(io, options).show(EnvironmentsPruned.parse(await runEnv(io, args, SILENT)), prunedView)
}

function argsOf({ data, environments, programs, envLimit }: EnvOptions, dataFolder: string): string[] {
  return [
    ...['--data', resolve(join(data ?? dataFolder, 'worker'))],
    ...(environments === undefined ? [] : ['--environments', environments]),
    ...(programs === undefined ? [] : ['--programs', programs]),
    ...(envLimit === undefined ? [] : ['--env-limit', envLimit]),
  ]
}
