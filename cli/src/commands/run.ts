import type { Client } from '@stoker/client'
import { isSweep, type Job } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT, exitCodeOfRun } from '../exit-codes.ts'
import { fetchedText } from '../files/fetched-text.ts'
import { sendFiles } from '../files/send-files.ts'
import { takeOutputs } from '../files/take-outputs.ts'
import { TransferLine } from '../files/transfer-line.ts'
import { followJob } from '../follow/follow-job.ts'
import { examples } from '../output/examples.ts'
import { exitMeaning } from '../output/exit-meaning.ts'
import { hint } from '../output/hints.ts'
import { lasted, shortId, stateText } from '../output/job-words.ts'
import { paperOf } from '../output/paper.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, type Printer, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { wholeIds } from '../select/whole-ids.ts'
import { locateIssues } from '../spec/locate-issues.ts'
import type { FoundSpec } from '../spec/read-specs.ts'
import { specFromWords } from '../spec/spec-from-words.ts'
import { applySpecOptions, type SpecOptions, withSpecOptions } from '../spec/spec-options.ts'
import { applySweepOptions, type SweepOptions, withSweepOptions } from '../spec/sweep-options.ts'
import { runGroup } from './run-group.ts'

type RunOptions = SpecOptions & SweepOptions & OutputOptions & { readonly detach?: boolean; readonly out?: string }

export function define(command: Command, cli: Cli): void {
  withOutput(withSweepOptions(withSpecOptions(command)))
    .usage(
      '[options] -- <program> [args...]\n       stoker run [options] <file>\n       stoker run [options] --preset <name>',
    )
    .argument('[words...]', 'a program and its arguments behind --, or a job file (YAML or JSON)')
    .option('--detach', 'do not follow the job')
    .option('--out <folder>', 'where outputs are put at the end (here with --files ., else ./stoker-outputs/<job>)')
    .addHelpText(
      'after',
      `${examples(['run -- python3 train.py --epochs 3'], ['run --gpus 1 --timeout 2h job.yaml'], ['run --detach --name night -- make all'], ['run --preset test-loading/inference --input topic=kites'])}

Ctrl-C cancels the job and waits for its end; a second one leaves at once.`,
    )
    .action(async (words: string[], options: RunOptions) => cli.exitWith(await run(words, options, cli)))
}

async function run(words: readonly string[], options: RunOptions, cli: Cli): Promise<number> {
  const found = await specFromWords('run', words, cli, options.preset)
  const out = printerFor(cli.io, options)
  return withHub(cli.io, options, async client => {
    if (isSweep(applySweepOptions(found.spec, options))) return startGroup(client, found, options, cli, out)
    const stop = stopOnSignal(cli, out)
    try {
      const { spec, sent } = await sendFiles(
        client,
        found,
        options.files ?? [],
        cli.io.folder,
        new TransferLine(cli.io),
      )
      const { id, unschedulable } = await submit(client, { ...found, spec }, options)
      if (options.detach === true) {
        if (unschedulable !== null) out.note(`it waits: ${plainText(unschedulable)}`)
        out.show({ id, exitCode: null, job: null }, runView)
        hint(cli.io, out, `logs -f ${shortId(id)}`, `wait ${shortId(id)}`)
        return EXIT.ok
      }
      out.note(`job ${id}`)
      stop.submitted(client, id)
      const hasOutputs = options.output !== undefined || spec.outputs !== undefined
      const takeHome = async () => (hasOutputs ? takeOutputs(client, id, { out: options.out, sent }, cli.io) : null)
      return await follow(client, id, cli, out, stop.left, takeHome)
    } finally {
      stop.release()
    }
  })
}

async function submit(client: Client, found: FoundSpec, options: RunOptions) {
  try {
    const spec = applySpecOptions(found.spec, await wholeIds(client, options))
    return await client.submit(spec, { failFast: options.failFast })
  } catch (error) {
    throw locateIssues(error, [found])
  }
}

async function startGroup(client: Client, found: FoundSpec, options: RunOptions, cli: Cli, out: Printer) {
  const spec = applySweepOptions(applySpecOptions(found.spec, await wholeIds(client, options)), options)
  const submitted = await client.submitAll([spec], { failFast: options.failFast }).catch((error: unknown) => {
    throw locateIssues(error, [found])
  })
  const [group] = submitted.groups
  if (group === undefined) throw new Error('a group was submitted, the hub answered none')
  if (options.detach !== true) return runGroup(client, group, cli, out)
  out.show({ id: group.id, exitCode: null, job: null }, runView)
  return EXIT.ok
}

async function follow(
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
function stopOnSignal(cli: Cli, out: Printer) {
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

const runView: View<OutputOf<'run'>> = { ids: ({ id }) => [id], human: ({ id }) => id }

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
  const meaning = job.state === 'failed' ? exitMeaning(job) : ''
  const text = `${job.state}${took === '' ? '' : ` after ${took}`}${reason === ': ' ? '' : reason}`
  return stateText(job.state, `${text}${meaning === '' ? '' : ` (usually: ${meaning})`}`, paper)
}
