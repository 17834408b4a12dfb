import { type Health, HubRefused, HubUnreachable } from '@stoker/client'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { Failure } from '../failure.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'

export function define(command: Command, cli: Cli): void {
  withOutput(command).action(async (options: OutputOptions) => {
    const value = { version: cli.io.version, node: process.version, hub: await hubHealth(options, cli) }
    printerFor(cli.io, options).show(value, versionView)
  })
}

/** No hub is no error here: the version of this program is known all the same. */
async function hubHealth(options: OutputOptions, cli: Cli): Promise<Health | null> {
  try {
    return await withHub(cli.io, options, client => client.health())
  } catch (error) {
    if (error instanceof Failure || error instanceof HubUnreachable || error instanceof HubRefused) return null
    throw error
  }
}

const versionView: View<OutputOf<'version'>> = {
  ids: ({ version }) => [version],
  human: ({ version, node, hub }) =>
    `stoker ${version} (node ${node})\nhub    ${hub === null ? 'not reached' : hub.version}`,
}
