import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import type { Io } from '../io.ts'
import { examples } from '../output/examples.ts'
import { localWorkersView } from '../output/local-worker-views.ts'
import { type OutputOptions, printerFor, type View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { type ForeignHub, type ForeignOptions, foreignHub, withForeignOptions } from '../processes/foreign-worker.ts'
import { localWorkers } from '../processes/local-workers.ts'
import { withLogOptions } from '../processes/log-options.ts'
import { nodeStatus } from '../processes/node-status.ts'
import { programFile, readyOr, startProgram } from '../processes/program.ts'
import { type JoiningOptions, joinTokenOf, workerHub } from '../processes/worker-hub.ts'
import { withWorkerOptions, workerArgs, workerOptionArgs, workerReadyOf } from '../processes/worker-process.ts'
import { install, uninstall, withServiceOptions } from './worker-service.ts'

type Options = JoiningOptions & ForeignOptions & OutputOptions & { readonly status?: boolean }

export function define(command: Command, cli: Cli): void {
  withForeignOptions(withJoiningOptions(command.enablePositionalOptions(), cli))
    .option('--json', 'print one JSON value when it is connected')
    .option('-q, --quiet', 'print only the id of the worker')
    .option('--status', 'show the workers of this machine instead, also when the hub is away')
    .addHelpText(
      'after',
      examples(
        ['worker --hub http://hub:7070 --join-file join.token'],
        ['worker --name b --data /srv/b', 'a second one on the same machine'],
        ['worker --status'],
        ['worker --backend http://backend:3001 --price 5.0', 'for a QUBIX backend'],
        ['worker --scheduler http://scheduler:3000 --max-jobs 4', 'for a TrainForge scheduler'],
      ),
    )
    .action(async (options: Options) =>
      cli.exitWith(options.status === true ? await status(options, cli) : await worker(options, cli)),
    )
  withServiceOptions(
    withJoiningOptions(command.command('install').description('make it a systemd service and start it'), cli),
  )
    .option('--print', 'print the unit and change nothing')
    .action((options: Options) => install(options, cli))
  withServiceOptions(command.command('uninstall').description('stop and remove the systemd service'))
    .option('--data <folder>', `where everything is kept (${cli.io.config.dataFolder})`)
    .action((options: Options) => uninstall(options, cli))
}

/** Nothing that runs is an answer a script can tell apart. */
async function status(options: Options, { io }: Cli): Promise<number> {
  const foreign = foreignHub(options)
  const folder = resolve(folderOf(options, foreign, io))
  if (foreign?.dialect === 'trainforge') return statusOfNode(options, folder, io)
  const workers = await localWorkers([folder])
  printerFor(io, options).show({ workers }, localWorkersView)
  return workers.some(one => one.state !== 'stopped') ? EXIT.ok : EXIT.notFound
}

function withJoiningOptions(command: Command, cli: Cli): Command {
  return withLogOptions(withWorkerOptions(command))
    .option('--hub <url>', 'the hub to take jobs from (that of the context)')
    .option('--pin <sha256/…>', "the SHA-256 of the hub's key: nothing else proves it then")
    .option('--ca <file>', 'certificates that vouch for the hub')
    .option('--proxy <url>', 'HTTP proxy on the way (that of HTTPS_PROXY or HTTP_PROXY)')
    .option('--join-file <file>', 'file with a join token (none: made with your own token)')
    .option('--join <token>', 'the join token itself; a file is safer')
    .option('--allow-unsandboxed', 'run programs even where no sandbox works, or where a job asks for none')
    .option('--data <folder>', `where everything is kept (${cli.io.config.dataFolder})`)
    .option('--context <name>', 'take the hub of this context')
}

/** In the words of the dialect, for whoever reads them there. */
async function statusOfNode(options: Options, folder: string, io: Io): Promise<number> {
  const node = await nodeStatus(folder)
  if (node === null)
    throw new Failure(`no worker for a TrainForge scheduler runs with its data in ${folder}`, {
      ...{ exitCode: EXIT.notFound, code: 'worker.stopped' },
    })
  const view = { ids: () => [String(node.worker_id)], human: () => JSON.stringify(node, null, 2) }
  printerFor(io, options).show(node, view)
  return EXIT.ok
}

/** Each kind of hub has a worker of its own: what one of them left must not be told to another. */
function folderOf(options: Options, foreign: ForeignHub | null, io: Io): string {
  const name = foreign === null ? 'worker' : `${foreign.dialect}-worker`
  return join(options.data ?? io.config.dataFolder, name)
}

interface Start {
  readonly hub: string
  readonly words: readonly string[]
  readonly secrets: Readonly<Record<string, string>>
}

async function worker(options: Options, cli: Cli): Promise<number> {
  const foreign = foreignHub(options)
  const folder = folderOf(options, foreign, cli.io)
  return follow(
    foreign === null ? await ownStart(options, folder, cli.io) : foreignStart(options, folder, foreign),
    options,
    cli,
  )
}

async function ownStart(options: Options, folder: string, io: Io): Promise<Start> {
  const hub = await workerHub(options, io)
  const token = await joinTokenOf(options, hub, folder, io)
  const secrets: Record<string, string> = token === null ? {} : { STOKER_JOIN: token }
  return { hub: hub.url, words: workerArgs(hub.url, folder, { ...options, ...hub }), secrets }
}

function foreignStart(options: Options, folder: string, { url, login, words }: ForeignHub): Start {
  const secrets: Record<string, string> = login === null ? {} : { STOKER_HUB_LOGIN: login }
  return { hub: url, words: [...words, ...workerOptionArgs(folder, options)], secrets }
}

async function follow({ hub, words, secrets }: Start, options: Options, { io }: Cli): Promise<number> {
  const file = programFile(io.programs, 'worker')
  const program = startProgram(file, words, line => io.stderr.write(`${line}\n`), secrets)
  const release = io.onStop(() => program.kill('SIGTERM'))
  try {
    const ready = { ...workerReadyOf(await readyOr(program, 'the worker did not start')), hub }
    printerFor(io, options).show(ready, workerView)
    const { code } = await program.ended
    return code ?? 1
  } finally {
    program.kill('SIGTERM')
    release()
  }
}

const workerView: View<OutputOf<'worker'>> = {
  ids: ({ id }) => [id],
  human: ({ name, hub }) => `The worker "${name}" takes jobs from ${hub}. Ctrl-C stops it and its jobs.`,
}
