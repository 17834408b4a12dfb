import type { Client } from '@stoker/client'
import { type Job, parseDuration } from '@stoker/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT, exitCodeOfState } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { followJob } from '../follow/follow-job.ts'
import { examples } from '../output/examples.ts'
import { jobsView } from '../output/job-views.ts'
import { type OutputOptions, type Printer, printerFor, withOutput } from '../output/printer.ts'
import { JOBS_HELP, resolveJobs, type SelectOptions, withSelection } from '../select/resolve-jobs.ts'

type WaitOptions = OutputOptions & SelectOptions & { readonly timeout?: number }

const LIVE = ['waiting', 'queued', 'active'] as const

export function define(command: Command, cli: Cli): void {
  withOutput(withSelection(command))
    .argument('[jobs...]', JOBS_HELP)
    .option('--timeout <duration>', 'give up after this time (exit code 124); the jobs go on', durationOf)
    .addHelpText('after', examples(['wait last'], ['wait -l exp=7', 'all of them that have not ended yet']))
    .action(async (words: string[], options: WaitOptions) => cli.exitWith(await wait(words, options, cli)))
}

async function wait(words: readonly string[], options: WaitOptions, cli: Cli): Promise<number> {
  const leaving = new AbortController()
  const release = cli.io.onStop(() => leaving.abort())
  const out = printerFor(cli.io, options)
  try {
    const jobs = await withHub(cli.io, options, async client => {
      const { ids } = await resolveJobs(client, words, options, LIVE)
      return waitForAll(client, ids, { ...options, leaving: leaving.signal, out, cli })
    })
    out.show({ jobs }, jobsView)
    return jobs.map(job => exitCodeOfState(job.state)).find(code => code !== EXIT.ok) ?? EXIT.ok
  } catch (error) {
    if (!leaving.signal.aborted) throw error
    return EXIT.left
  } finally {
    release()
  }
}

interface Waiting {
  readonly timeout?: number
  readonly leaving: AbortSignal
  readonly out: Printer
  readonly cli: Cli
}

/** One after the other is no slower: all have to end. */
async function waitForAll(client: Client, ids: readonly string[], of: Waiting): Promise<Job[]> {
  const { timeout, leaving, out, cli } = of
  const late = timeout === undefined ? undefined : AbortSignal.timeout(timeout)
  const signal = late === undefined ? leaving : AbortSignal.any([late, leaving])
  const follow = { stdout: null, stderr: null, hasStatus: out.kind === 'human', note: out.note, signal }
  const jobs: Job[] = []
  try {
    for (const id of ids) jobs.push(await followJob(client, id, cli.io, follow))
  } catch (error) {
    if (late?.aborted !== true) throw error
    throw new Failure(`the jobs should end within ${(timeout ?? 0) / 1000} s, ${ids.length - jobs.length} have not`, {
      exitCode: EXIT.timedOut,
      code: 'wait.timed_out',
    })
  }
  return jobs
}

function durationOf(text: string): number {
  const ms = parseDuration(text)
  if (ms === null || ms === 0) throw new InvalidArgumentError('It should be a duration like 90s or 10m.')
  return ms
}
