import { Command, CommanderError } from 'commander'
import { COMMANDS, type CommandEntry } from './command-table.ts'
import { printJsonError } from './error-report.ts'
import { EXIT } from './exit-codes.ts'
import type { Io } from './io.ts'

const EXAMPLES = `
Try:
  stoker up                                  a hub and a worker on this machine
  stoker run --files . -- python3 train.py   run a program of this folder and follow it
  stoker run --gpus 1 --timeout 2h job.yaml

Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 not allowed, 6 cannot be scheduled, 8 hub unreachable;
waiting commands: 100 failed, 103 canceled, 124 timed out; run: the program's own, 128+n for signals, 125 for its own failures.
`

/** Runs one command line to its exit code; never throws, never ends the process. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  let exitCode: number = EXIT.ok
  const exitWith = (code: number) => {
    exitCode = code
  }
  const program = topLevel(io)
  for (const entry of COMMANDS) {
    const command = program
      .command(entry.name, { hidden: entry.isHidden })
      .description(entry.summary)
      .helpGroup(entry.group)
    command.copyInheritedSettings(program)
  }
  program.hook('preSubcommand', async (_, command) => {
    const file = await entryOf(command.name())?.load()
    command.helpCommand(false)
    file?.define(command, { io, argv, exitWith, commands: COMMANDS })
    for (const inner of command.commands) inner.copyInheritedSettings(program)
  })
  try {
    await program.parseAsync(withoutHelpCommand(argv), { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) return usageError(error, io, argv)
    const { reportError } = await import('./report-error.ts')
    return reportError(error, io, argv)
  }
  return exitCode
}

function topLevel(io: Io): Command {
  return new Command('stoker')
    .description('Keeps GPUs fed: a hub takes jobs, workers run them.')
    .usage('<command> [options]')
    .version(io.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(try --help)')
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ helpWidth: Math.min(io.stdout.columns() ?? 100, 120), subcommandTerm: one => one.name() })
    .configureOutput({ writeOut: text => io.stdout.write(text), writeErr: text => io.stderr.write(text) })
}

/** Commander has said it to the person already. */
function usageError(error: CommanderError, io: Io, argv: readonly string[]): number {
  if (error.exitCode === 0) return EXIT.ok
  const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  printJsonError(io, argv, { code: 'cli.usage', message, exitCode: EXIT.usage, details: [] })
  return EXIT.usage
}

function entryOf(name: string): CommandEntry | undefined {
  return COMMANDS.find(entry => entry.name === name)
}

/** `stoker help run` is `stoker run --help`, so that the command's own options are loaded and shown. */
function withoutHelpCommand(argv: readonly string[]): string[] {
  const [first, ...rest] = argv
  if (first === undefined || first === 'help') return [...rest, '--help']
  return [...argv]
}
