import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { runInForeground } from '../processes/foreground.ts'

/** All that follows belongs to the simulator, its --help too. */
export function define(command: Command, cli: Cli): void {
  command
    .helpOption(false)
    .allowUnknownOption()
    .argument('[args...]')
    .action(async () => {
      cli.exitWith(await runInForeground(cli.io, 'sim', cli.argv.slice(cli.argv.indexOf('sim') + 1)))
    })
}
