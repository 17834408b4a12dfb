import type { Client } from '@stoker/client'
import type { JobDetail } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { followLogs } from '../follow/follow-logs.ts'
import { examples } from '../output/examples.ts'
import { jobDetailView, jobPageView } from '../output/job-views.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import { JOB_HELP, resolveJob } from '../select/resolve-jobs.ts'

const NEWEST = 5
const MOST = 1000
const LOG_LINES = 5

type StatusOptions = OutputOptions & { readonly all?: boolean }

/** `list` and `show` in one, as people know it from TrainForge. */
export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('[job]', `${JOB_HELP} (the ${NEWEST} newest)`)
    .option('-a, --all', `up to ${MOST} jobs`)
    .addHelpText('after', examples(['status'], ['status last'], ['status --all']))
    .action((word: string | undefined, options: StatusOptions) => status(word, options, cli))
}

async function status(word: string | undefined, options: StatusOptions, cli: Cli): Promise<void> {
  const out = printerFor(cli.io, options)
  await withHub(cli.io, options, async client => {
    if (word === undefined)
      return out.show(await client.jobs({ limit: options.all === true ? MOST : NEWEST }), jobPageView)
    const job = await client.job(await resolveJob(client, word))
    out.show({ ...job, log: await lastLines(client, job.id) }, statusView)
  })
}

async function lastLines(client: Client, id: string): Promise<string[]> {
  const parts: Uint8Array[] = []
  for await (const part of followLogs(client, id, { tail: LOG_LINES })) parts.push(part)
  const text = Buffer.concat(parts).toString('utf8').trimEnd()
  return text === '' ? [] : text.split('\n').slice(-LOG_LINES)
}

const statusView: View<JobDetail & { readonly log: readonly string[] }> = {
  ids: ({ id }) => [id],
  human: ({ log, ...job }, paper) =>
    [jobDetailView.human(job, paper), ...(log.length === 0 ? [] : ['', ...log.map(plainText)])].join('\n'),
}
