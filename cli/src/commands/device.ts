import { formatSize } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command.command('quarantine').description('keep a GPU from all new jobs, whichever worker shows it'))
    .argument('<uuid>', 'uuid of the device, as `stoker workers <worker>` shows it')
    .requiredOption('--reason <text>', 'what is wrong with it')
    .action((uuid: string, options: OutputOptions & { readonly reason: string }) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show(await client.quarantineDevice(uuid, options.reason), deviceView)
      }),
    )
  withOutput(command.command('release').description('give a quarantined GPU to jobs again'))
    .argument('<uuid>', 'uuid of the device')
    .action((uuid: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        await client.releaseDevice(uuid)
        printerFor(cli.io, options).show({ released: uuid }, releasedView)
      }),
    )
}

const deviceView: View<OutputOf<'device quarantine'>> = {
  ids: ({ uuid }) => [uuid],
  human: ({ uuid, name, memoryMb, workers, claims, quarantine }) => {
    const still = claims === 0 ? '' : `; ${claims} running job${claims === 1 ? ' keeps' : 's keep'} it until the end`
    const what = `${uuid} (${name}, ${formatSize(memoryMb * 2 ** 20)}, on ${workers.join(', ')})`
    return plainText(`${what} is quarantined: ${quarantine?.reason ?? ''}${still}`)
  },
}

const releasedView: View<OutputOf<'device release'>> = {
  ids: ({ released }) => [released],
  human: ({ released }) => plainText(`${released} released`),
}
