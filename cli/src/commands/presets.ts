import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { examples } from '../output/examples.ts'
import { presetListView, presetView } from '../output/preset-views.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { runInForeground } from '../processes/foreground.ts'
import { presetsFolder } from '../processes/hub-process.ts'
import { wholeNumber } from '../spec/spec-options.ts'

type ListOptions = OutputOptions & { readonly limit?: number; readonly cursor?: string }

export function define(command: Command, cli: Cli): void {
  withOutput(command.command('list').description('list the presets of the hub, and what is wrong in their files'))
    .option('-n, --limit <n>', 'how many (100; at most 1000)', wholeNumber)
    .option('--cursor <cursor>', 'continue where a list ended')
    .action(({ json, quiet, context, ...page }: ListOptions) =>
      withHub(cli.io, { context }, async client => {
        printerFor(cli.io, { json, quiet }).show(await client.presets(page), presetListView)
      }),
    )
  withOutput(command.command('show').description('show a preset and the job it becomes'))
    .argument('<preset>', 'like test-loading/inference')
    .action((name: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show(await client.preset(name), presetView)
      }),
    )
  command
    .command('check')
    .description('check a folder of presets without a hub; exits with 1 if something is wrong')
    .argument('[folder]', 'where model_presets.yaml or task_definitions.yaml are (the folder of the hub here)')
    .option('--json', 'print exactly one JSON value')
    .option('-q, --quiet', 'print only what is wrong')
    .addHelpText('after', examples(['presets check'], ['presets check ./presets']))
    .action(async (folder: string | undefined, { json, quiet }: OutputOptions) => {
      const where = folder === undefined ? presetsFolder(cli.io, {}) : resolve(cli.io.folder, folder)
      const form = json === true ? ['--json'] : quiet === true ? ['--quiet'] : []
      cli.exitWith(await runInForeground(cli.io, 'hub', ['check-presets', '--presets', where, ...form]))
    })
}
