import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { checkPort } from '../processes/check-port.ts'
import {
  adoptHub,
  type HubOptions,
  hubPlace,
  hubReadyOf,
  LOCAL_CONTEXT,
  withHubOptions,
} from '../processes/hub-process.ts'
import { withLogOptions } from '../processes/log-options.ts'
import { programFile, readyOr, startProgram } from '../processes/program.ts'
import { withRetentionOptions } from '../processes/retention-options.ts'

export function define(command: Command, cli: Cli): void {
  withRetentionOptions(withLogOptions(withHubOptions(command, cli.io)))
    .option('--json', 'print one JSON value when it is ready')
    .option('-q, --quiet', 'print only the address')
    .action(async (options: HubOptions & OutputOptions) => cli.exitWith(await hub(options, cli)))
}

async function hub(options: HubOptions & OutputOptions, cli: Cli): Promise<number> {
  const { io } = cli
  const { args, folder, tokenFile } = hubPlace(io, options)
  await checkPort(options.host, options.port)
  const program = startProgram(programFile(io.programs, 'hub'), args, line => io.stderr.write(`${line}\n`))
  const release = io.onStop(() => program.kill('SIGTERM'))
  try {
    const ready = hubReadyOf(await readyOr(program, 'the hub did not start'))
    await adoptHub(io, ready.url, tokenFile)
    const value = { ...ready, dataFolder: folder, tokenFile, context: LOCAL_CONTEXT }
    printerFor(io, options).show(value, hubView)
    const { code } = await program.ended
    return code ?? 1
  } finally {
    program.kill('SIGTERM')
    release()
  }
}

const hubView: View<OutputOf<'hub'>> = {
  ids: ({ url }) => [url],
  human: ({ url, tokenFile, context }) =>
    [
      `The hub is ready at ${url} (API: ${url}/docs).`,
      `Its admin token is in ${tokenFile}, used as context "${context}".`,
      'Add a worker here:  stoker worker',
    ].join('\n'),
}
