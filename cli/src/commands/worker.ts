import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { chooseHub, clientOf } from '../connect.ts'
import { type Context, readContexts } from '../contexts.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { programFile, readyOr, startProgram } from '../processes/program.ts'
import {
  isNewWorker,
  makeJoinToken,
  type WorkerOptions,
  withWorkerOptions,
  workerArgs,
  workerReadyOf,
} from '../processes/worker-process.ts'

interface Options extends WorkerOptions, OutputOptions {
  readonly hub?: string
  readonly join?: string
  readonly joinFile?: string
}

export function define(command: Command, cli: Cli): void {
  withWorkerOptions(command)
    .option('--hub <url>', 'the hub to take jobs from (that of the context)')
    .option('--pin <sha256/…>', "the SHA-256 of the hub's key: nothing else proves it then")
    .option('--ca <file>', 'certificates that vouch for the hub')
    .option('--proxy <url>', 'HTTP proxy on the way (that of HTTPS_PROXY or HTTP_PROXY)')
    .option('--join-file <file>', 'file with a join token (none: made with your own token)')
    .option('--join <token>', 'the join token itself; a file is safer')
    .option('--allow-unsandboxed', 'run programs even where no sandbox works, or where a job asks for none')
    .option('--data <folder>', `where everything is kept (${cli.io.config.dataFolder})`)
    .option('--context <name>', 'take the hub of this context')
    .option('--json', 'print one JSON value when it is connected')
    .option('-q, --quiet', 'print only the id of the worker')
    .action(async (options: Options) => cli.exitWith(await worker(options, cli)))
}

async function worker(options: Options, cli: Cli): Promise<number> {
  const { io } = cli
  const hub = await hubOf(options, cli)
  const folder = join(options.data ?? io.config.dataFolder, 'worker')
  const token = await joinTokenOf(options, hub, folder, cli)
  const secrets: Record<string, string> = token === null ? {} : { STOKER_JOIN: token }
  const file = programFile(io.programs, 'worker')
  const program = startProgram(
    file,
    workerArgs(hub.url, folder, { ...options, ...pickTrust(hub) }),
    line => io.stderr.write(`${line}\n`),
    secrets,
  )
  const release = io.onStop(() => program.kill('SIGTERM'))
  try {
    const ready = { ...workerReadyOf(await readyOr(program, 'the worker did not start')), hub: hub.url }
    printerFor(io, options).show(ready, workerView)
    const { code } = await program.ended
    return code ?? 1
  } finally {
    program.kill('SIGTERM')
    release()
  }
}

/** What the command line says of the hub goes before what its context knows. */
async function hubOf({ hub, context, ...given }: Options, cli: Cli): Promise<Context> {
  if (hub === undefined) return { ...(await chooseHub(cli.io, context)), ...pickTrust(given) }
  const known = Object.values((await readContexts(cli.io.config.contextsFile)).contexts)
  const same = known.find(one => one.url === hub) ?? { url: hub, token: cli.io.config.token ?? null }
  return { ...same, ...pickTrust(given) }
}

function pickTrust({ pin, ca, proxy }: Pick<WorkerOptions, 'pin' | 'ca' | 'proxy'>) {
  return {
    ...(pin === undefined ? {} : { pin }),
    ...(ca === undefined ? {} : { ca }),
    ...(proxy === undefined ? {} : { proxy }),
  }
}

async function joinTokenOf(options: Options, hub: Context, folder: string, cli: Cli): Promise<string | null> {
  if (options.join !== undefined) return options.join
  if (options.joinFile !== undefined) return (await readFile(options.joinFile, 'utf8')).trim()
  if (hub.token === null || !(await isNewWorker(folder))) return null
  const client = await clientOf(cli.io, hub)
  try {
    return await makeJoinToken(client, `worker ${options.name ?? ''}`.trim())
  } finally {
    client.close()
  }
}

const workerView: View<OutputOf<'worker'>> = {
  ids: ({ id }) => [id],
  human: ({ name, hub }) => `The worker "${name}" takes jobs from ${hub}. Ctrl-C stops it and its jobs.`,
}
