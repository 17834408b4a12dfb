import { join } from 'node:path'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { runInForeground } from '../processes/foreground.ts'

export function define(command: Command, cli: Cli): void {
  const { io } = cli
  command
    .argument('<folder>', 'new folder for the backup')
    .option('--data <folder>', `data of the hub (${io.config.dataFolder})`)
    .action(async (to: string, options: { readonly data?: string }) => {
      const data = join(options.data ?? io.config.dataFolder, 'hub')
      cli.exitWith(await runInForeground(io, 'hub', ['backup', '--data', data, '--to', to]))
    })
}
