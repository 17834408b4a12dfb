import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { examples } from '../output/examples.ts'
import type { OutputOptions } from '../output/printer.ts'
import { check } from '../program/check-command.ts'
import { type CheckOptions, withCheckOptions } from '../program/check-options.ts'
import { newProgram } from '../program/new-program.ts'

export function define(command: Command, cli: Cli): void {
  withLocalOutput(command.command('new').description('write a folder with a program that is ready to run'))
    .argument('<name>', 'name of the folder, the image and the preset')
    .action((name: string, options: OutputOptions) => newProgram(name, options, cli))
  withLocalOutput(withCheckOptions(command.command('check')))
    .description('run a program as a worker would, and name its mistakes')
    .usage(
      '[options] -- <program> [args...]\n       stoker program check [options] --image <name> [-- <program> [args...]]',
    )
    .argument('[words...]', 'the program and its arguments behind --')
    .addHelpText(
      'after',
      `${examples(['program check -- python3 worker.py'], ['program check --session --input \'{"topic": "fire"}\' -- python3 worker.py'], ['program check --image my-program:latest'])}

Exit codes: 0 no mistakes, 1 mistakes, 3 no such program or image, 8 no container engine. The mistakes: docs/programs.md.`,
    )
    .action(async (words: string[], options: CheckOptions & OutputOptions) =>
      cli.exitWith(await check(words, options, cli)),
    )
}

/** Both work without a hub. */
function withLocalOutput(command: Command): Command {
  return command
    .option('--json', 'print exactly one JSON value (see: stoker schema)')
    .option('-q, --quiet', 'print ids only')
}
