import type { Client } from '@stoker/client'
import type { Job } from '@stoker/protocol'
import type { Cli } from '../command-table.ts'
import { EXIT, exitCodeOfRun } from '../exit-codes.ts'
import { fetchedText } from '../files/fetched-text.ts'
import { exitMeaning } from '../output/exit-meaning.ts'
import { hint } from '../output/hints.ts'
import { lasted, shortId, stateText } from '../output/job-words.ts'
import { paperOf } from '../output/paper.ts'
import { plainText } from '../output/plain-text.ts'
import type { Printer, View } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { followJob } from './follow-job.ts'

/** Shows a job until it has ended, brings home what it left, and gives the exit code of a run. */
export async function followToEnd(
  client: Client,
  id: string,
  cli: Cli,
  out: Printer,
  left: AbortSignal,
  takeHome: () => Promise<OutputOf<'artifacts get'> | null>,
): Promise<number> {
  const { io } = cli
  const outs =
    out.kind === 'quiet'
      ? { stdout: null, stderr: null, hasStatus: false }
      : { stdout: out.kind === 'json' ? io.stderr : io.stdout, stderr: io.stderr, hasStatus: out.kind === 'human' }
  try {
    const job = await followJob(client, id, io, { ...outs, note: out.note, signal: left })
    const exitCode = exitCodeOfRun(job)
    if (out.kind === 'human') sayEnd(job, cli, out)
    const outputs = await takeHome()
    if (out.kind !== 'human') out.show({ id, exitCode, job, ...(outputs === null ? {} : { outputs }) }, runView)
    else if (outputs !== null) out.note(fetchedText(outputs))
    return exitCode
  } catch (error) {
    if (!left.aborted) throw error
    out.note(`left; the job is still being stopped, see it with: stoker show ${shortId(id)}`)
    return EXIT.left
  }
}

/** The first Ctrl-C cancels the job, also one that is only just being submitted; the second leaves. */
export function stopOnSignal(cli: Cli, out: Printer) {
  const leave = new AbortController()
  let signals = 0
  let cancel = () => {}
  const release = cli.io.onStop(() => {
    signals += 1
    if (signals > 1) return leave.abort()
    out.note('\ncanceling the job; Ctrl-C again leaves without waiting for its end')
    cancel()
  })
  return {
    left: leave.signal,
    release,
    submitted(client: Client, id: string): void {
      cancel = () => void client.cancel(id).catch(error => out.note(`the cancel was not taken: ${String(error)}`))
      if (signals > 0) cancel()
    },
  }
}

export const runView: View<OutputOf<'run'>> = { ids: ({ id }) => [id], human: ({ id }) => id }

/** A failure comes with what its code means and with what to look at next. */
function sayEnd(job: Job, cli: Cli, out: Printer): void {
  out.note(endText(job, cli))
  if (job.state === 'failed' || job.state === 'timed_out')
    hint(cli.io, out, `logs ${shortId(job.id)} --stream stderr --tail 20`, `retry ${shortId(job.id)}`)
}

function endText(job: Job, cli: Cli): string {
  const paper = paperOf(cli.io, cli.io.stderr)
  const took = lasted(job, cli.io.now())
  const reason = job.state === 'succeeded' ? '' : `: ${plainText((job.reason ?? '').split('\n', 1).join(''))}`
  const meaning = job.state === 'failed' && !isExplained(job) ? exitMeaning(job) : ''
  const text = `${job.state}${took === '' ? '' : ` after ${took}`}${reason === ': ' ? '' : reason}`
  return stateText(job.state, `${text}${meaning === '' ? '' : ` (usually: ${meaning})`}`, paper)
}

/** Whether the reason says more than how the program ended. */
function isExplained({ reason }: Job): boolean {
  return reason !== null && !/^(exited with|killed by) /.test(reason)
}
