import type { Client } from '@stoker/client'
import { type Job, parseDuration } from '@stoker/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT, exitCodeOfState } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { jobsView } from '../output/job-views.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'

type WaitOptions = OutputOptions & { readonly timeout?: number }

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<jobs...>', 'ids, or their last digits')
    .option('--timeout <duration>', 'give up after this time (exit code 124); the jobs go on', durationOf)
    .action(async (ids: string[], options: WaitOptions) => {
      const jobs = await withHub(cli.io, options, client => waitForAll(client, ids, options.timeout))
      printerFor(cli.io, options).show({ jobs }, jobsView)
      cli.exitWith(jobs.map(job => exitCodeOfState(job.state)).find(code => code !== EXIT.ok) ?? EXIT.ok)
    })
}

/** One after the other is no slower: all have to end. */
async function waitForAll(client: Client, ids: readonly string[], timeoutMs: number | undefined): Promise<Job[]> {
  const signal = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs)
  const jobs: Job[] = []
  try {
    for (const id of ids) jobs.push(await endOf(client, id, signal))
  } catch (error) {
    if (signal?.aborted !== true) throw error
    throw new Failure(`the jobs should end within ${(timeoutMs ?? 0) / 1000} s, ${ids.length - jobs.length} have not`, {
      exitCode: EXIT.timedOut,
      code: 'wait.timed_out',
    })
  }
  return jobs
}

async function endOf(client: Client, id: string, signal: AbortSignal | undefined): Promise<Job> {
  for await (const event of client.events(id, { signal })) if (event.event === 'end') return event.job
  throw new Error(`the events of job ${id} should close with its end, they closed without`)
}

function durationOf(text: string): number {
  const ms = parseDuration(text)
  if (ms === null || ms === 0) throw new InvalidArgumentError('It should be a duration like 90s or 10m.')
  return ms
}
