import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { examples } from '../output/examples.ts'
import { withOutput } from '../output/printer.ts'
import { type ChangeOptions, withChangeOptions } from '../project/push-options.ts'
import { type PushOptions, pushProject } from '../project/push-project.ts'

type Options = PushOptions &
  ChangeOptions & { readonly config?: string; readonly path?: string; readonly name?: string }

export function define(command: Command, cli: Cli): void {
  withOutput(withChangeOptions(command))
    .option('-c, --config <file>', 'the configuration (trainforge.yaml of the folder)')
    .option('-p, --path <folder>', 'where the project lies (here)')
    .option('-n, --name <text>', 'another name than its own')
    .option('-f, --follow', 'follow the job, bring its outputs home, and end with its exit code')
    .option('--out <folder>', 'with --follow: where outputs are put (stoker-outputs/<job> of the project)')
    .option('--no-container', 'not in the base_image, even where a worker could')
    .addHelpText(
      'after',
      `${examples(['push'], ['push --follow'], ['push -p ./digits -r \'{"gpu": 0}\''])}

Left out: .git, __pycache__, *.pyc, .DS_Store, node_modules, .env, venv, .venv, and what .gitignore and .stokerignore name.`,
    )
    .action(async ({ config, path, name, resources, workers, ...options }: Options) =>
      cli.exitWith(await pushProject({ path, config, changes: { name, resources, workers } }, options, cli)),
    )
}
