import type { Client, LogOptions } from '@stoker/client'
import { type Command, Option } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { followLogs } from '../follow/follow-logs.ts'
import { rankLines } from '../follow/rank-lines.ts'
import { Screen } from '../follow/screen.ts'
import { watchStanding } from '../follow/watch-standing.ts'
import { examples } from '../output/examples.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { JOB_HELP, resolveJob } from '../select/resolve-jobs.ts'
import { wholeNumber } from '../spec/spec-options.ts'

type Which = Pick<LogOptions, 'stream' | 'tail' | 'since' | 'attempt' | 'follow'>
type LogsOptions = OutputOptions & Which & { readonly rank?: number }

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<job>', JOB_HELP)
    .option('-f, --follow', 'go on until the job ends')
    .option('--tail <n>', 'only the last lines', wholeNumber)
    .option('--since <when>', 'only what came since then: 10m, or 2026-01-31T12:00:00Z')
    .option('--attempt <n>', 'of this attempt instead of the last', wholeNumber)
    .option('--rank <n>', 'only what this rank said, of a job with several', wholeNumber)
    .addOption(new Option('--stream <name>', 'only this stream').choices(['stdout', 'stderr']))
    .addHelpText(
      'after',
      examples(['logs last'], ['logs -f --tail 20 @train'], ['logs failed --stream stderr'], ['logs last --rank 1']),
    )
    .action(async (word: string, options: LogsOptions) => cli.exitWith(await logs(word, options, cli)))
}

async function logs(word: string, options: LogsOptions, cli: Cli): Promise<number> {
  const { json, quiet, context, rank, ...which } = options
  if (rank !== undefined && which.tail !== undefined)
    throw new Failure('found --rank and --tail; lines are counted before they are sorted by rank, use --since', {
      exitCode: EXIT.usage,
    })
  return withHub(cli.io, { context }, async client => {
    const id = await resolveJob(client, word)
    const read = (signal?: AbortSignal) => logParts(client, id, { ...which, signal }, rank)
    if (json !== true && quiet !== true) return printLogs(client, id, which, read, cli)
    const job = await client.job(id)
    const parts: Uint8Array[] = []
    for await (const part of read()) parts.push(part)
    printerFor(cli.io, options).show({ id: job.id, text: Buffer.concat(parts).toString('utf8') }, logView)
    return EXIT.ok
  })
}

/** Only rank 0 has a stdout of its own. */
function logParts(client: Client, id: string, which: LogOptions, rank: number | undefined): AsyncIterable<Uint8Array> {
  if (rank === undefined) return followLogs(client, id, which)
  return rankLines(followLogs(client, id, rank === 0 ? which : { ...which, stream: 'stderr' }), rank)
}

/** With a status line below a followed log; Ctrl-C leaves the terminal as it should be and the job alone. */
async function printLogs(
  client: Client,
  id: string,
  which: Which,
  read: (signal: AbortSignal) => AsyncIterable<Uint8Array>,
  { io }: Cli,
): Promise<number> {
  const screen = new Screen(io)
  const leaving = new AbortController()
  const release = io.onStop(() => leaving.abort())
  const stopStatus = which.follow === true ? watchStanding(client, id, io, screen) : () => {}
  try {
    for await (const part of read(leaving.signal)) screen.raw(io.stdout, part)
    return EXIT.ok
  } catch (error) {
    if (!leaving.signal.aborted) throw error
    return EXIT.left
  } finally {
    stopStatus()
    screen.end()
    release()
  }
}

const logView: View<OutputOf<'logs'>> = { ids: ({ id }) => [id], human: ({ text }) => text }
