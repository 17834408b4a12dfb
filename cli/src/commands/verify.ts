import { join } from 'node:path'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { runInForeground } from '../processes/foreground.ts'

export function define(command: Command, cli: Cli): void {
  const { io } = cli
  command
    .option('--data <folder>', `data of the hub (${io.config.dataFolder})`)
    .option('--json', 'print exactly one JSON value')
    .action(async (options: { readonly data?: string; readonly json?: boolean }) => {
      const data = join(options.data ?? io.config.dataFolder, 'hub')
      const args = ['verify', '--data', data, ...(options.json === true ? ['--json'] : [])]
      cli.exitWith(await runInForeground(io, 'hub', args))
    })
}
