import { join } from 'node:path'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { runInForeground } from '../processes/foreground.ts'

export function define(command: Command, cli: Cli): void {
  const { io } = cli
  command
    .argument('<folder>', 'folder a backup was made to')
    .option(
      '--data <folder>',
      `where the data of the hub should be (${io.config.dataFolder}); it must not have any yet`,
    )
    .action(async (from: string, options: { readonly data?: string }) => {
      const data = join(options.data ?? io.config.dataFolder, 'hub')
      cli.exitWith(await runInForeground(io, 'hub', ['restore', '--from', from, '--data', data]))
    })
}
