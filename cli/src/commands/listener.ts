import type { Listener } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import type { Paper } from '../output/paper.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { table } from '../output/table.ts'

const USUAL = 'https://0.0.0.0:7443'

export function define(command: Command, cli: Cli): void {
  withOutput(command.command('list').description('list where the hub listens')).action((options: OutputOptions) =>
    withHub(cli.io, options, async client => printerFor(cli.io, options).show(await client.listeners(), listenersView)),
  )
  withOutput(command.command('open').description('listen on one more address, now and after every restart'))
    .argument('[url]', 'where, with TLS', USUAL)
    .action((url: string, options: OutputOptions) =>
      withHub(cli.io, options, async client =>
        printerFor(cli.io, options).show(await client.openListener(url), listenerView),
      ),
    )
  withOutput(command.command('close').description('listen there no more'))
    .argument('<name>', 'as it is listed, like 0.0.0.0:7443')
    .action((name: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        const closed = name.replace(/^https?:\/\//, '')
        await client.closeListener(closed)
        printerFor(cli.io, options).show({ closed }, closedView)
      }),
    )
}

const listenersView: View<OutputOf<'listener list'>> = {
  ids: ({ listeners }) => listeners.map(listener => listener.name),
  human: ({ listeners }, paper) => listenerTable(listeners, paper),
}

const listenerView: View<Listener> = {
  ids: ({ name }) => [name],
  human: (listener, paper) => listenerTable([listener], paper),
}

const closedView: View<OutputOf<'listener close'>> = {
  ids: ({ closed }) => [closed],
  human: ({ closed }) => `${closed} closed`,
}

function listenerTable(listeners: readonly Listener[], paper: Paper): string {
  const columns = [
    { title: 'URL', cell: (one: Listener) => one.url },
    { title: 'KEY', cell: (one: Listener) => one.pin ?? 'no TLS' },
    { title: 'REMEMBERED', cell: (one: Listener) => (one.remembered ? 'yes' : ''), importance: 2 },
    { title: 'ERROR', cell: (one: Listener) => one.error ?? '', shrinkTo: 5, importance: 1 },
  ]
  return table(columns, listeners, paper)
}
