import type { Client } from '@stoker/client'
import { isSweep, type JobSpecInput, newsIn, PROGRAM_TYPES } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { readySpec } from '../files/ready-spec.ts'
import { takeGroupOutputs } from '../files/take-group-outputs.ts'
import { takeOutputs } from '../files/take-outputs.ts'
import { unsentFile } from '../files/unsent-file.ts'
import { followToEnd, runView, stopOnSignal } from '../follow/run-to-end.ts'
import { examples } from '../output/examples.ts'
import { hint } from '../output/hints.ts'
import { shortId } from '../output/job-words.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, type Printer, printerFor, withOutput } from '../output/printer.ts'
import { located } from '../spec/locate-issues.ts'
import type { FoundSpec } from '../spec/read-specs.ts'
import { specFromWords } from '../spec/spec-from-words.ts'
import { type SpecOptions, withSubmitOptions } from '../spec/spec-options.ts'
import { applySweepOptions, type SweepOptions, withSweepOptions } from '../spec/sweep-options.ts'
import { runGroup } from './run-group.ts'

/** Ends that no file would have changed. */
const OTHER_ENDS: readonly number[] = [EXIT.ok, EXIT.canceled, EXIT.timedOut, EXIT.left]

type RunOptions = SpecOptions & SweepOptions & OutputOptions & { readonly detach?: boolean; readonly out?: string }

export function define(command: Command, cli: Cli): void {
  withOutput(withSweepOptions(withSubmitOptions(command)))
    .usage(
      '[options] -- <program> [args...]\n       stoker run [options] <file>\n       stoker run [options] --preset <name>',
    )
    .argument('[words...]', 'a program and its arguments behind --, or a job file (YAML or JSON)')
    .option('--detach', 'do not follow the job')
    .option('--out <folder>', 'where outputs are put at the end (here with --files ., else ./stoker-outputs/<job>)')
    .addHelpText(
      'after',
      `${examples(['run --files . -- python3 train.py --epochs 3'], ['run --gpus 1 --timeout 2h job.yaml'], ['run --image python:3.11-slim -- python3 -V'], ['run --preset test-loading/inference --input topic=kites'], ['run --detach --name night -- make all'])}

Ctrl-C cancels the job and waits for its end; a second one leaves at once.`,
    )
    .action(async (words: string[], options: RunOptions) => cli.exitWith(await run(words, options, cli)))
}

async function run(words: readonly string[], options: RunOptions, cli: Cli): Promise<number> {
  const found = await specFromWords('run', words, cli, options)
  const out = printerFor(cli.io, options)
  return withHub(cli.io, options, async client => {
    if (isSweep(applySweepOptions(found.spec, options))) return startGroup(client, found, options, cli, out)
    const stop = stopOnSignal(cli, out)
    try {
      const { spec, sent } = await readySpec(client, found, options, cli.io)
      const { id, unschedulable } = await client.submit(spec, { failFast: options.failFast }).catch(located([found]))
      if (options.detach === true) {
        if (unschedulable !== null) out.note(`it waits: ${plainText(unschedulable)}`)
        out.show({ id, exitCode: null, job: null }, runView)
        hint(cli.io, out, `logs -f ${shortId(id)}`, `wait ${shortId(id)}`)
        return EXIT.ok
      }
      out.note(`job ${id}`)
      stop.submitted(client, id)
      const hasOutputs = leavesOutputs(spec)
      const takeHome = async () => (hasOutputs ? takeOutputs(client, id, { out: options.out, sent }, cli.io) : null)
      const code = await followToEnd(client, id, cli, out, stop.left, takeHome)
      if (hasOutputs) await sayNote(client, id, out)
      await sayUnsent(code, spec, cli, out)
      return code
    } finally {
      stop.release()
    }
  })
}

/** Of programs that come along `outputs/` is kept without a word. */
function leavesOutputs({ outputs, type }: JobSpecInput): boolean {
  return outputs !== undefined || PROGRAM_TYPES.some(name => name === type)
}

/** Patterns that no file matched, and the like; a job that has ended does not fail because nobody can be asked. */
async function sayNote(client: Client, id: string, out: Printer): Promise<void> {
  const job = await client.job(id).catch(() => null)
  const news = newsIn(job?.history.at(-1)?.note ?? null)
  if (news !== null) out.note(plainText(news))
}

async function sayUnsent(code: number, spec: JobSpecInput, { io }: Cli, out: Printer): Promise<void> {
  const unsent = OTHER_ENDS.includes(code) ? null : await unsentFile(spec, io.folder)
  if (unsent === null) return
  const file = plainText(unsent)
  out.note(`${file} of this folder was not sent; a job begins in an empty one: --files ${file} sends it, --files . all`)
}

async function startGroup(client: Client, found: FoundSpec, options: RunOptions, cli: Cli, out: Printer) {
  const { spec } = await readySpec(client, found, options, cli.io)
  const swept = applySweepOptions(spec, options)
  const submitted = await client.submitAll([swept], { failFast: options.failFast }).catch(located([found]))
  const [group] = submitted.groups
  if (group === undefined) throw new Error('a group was submitted, the hub answered none')
  if (options.detach === true) {
    out.show({ id: group.id, exitCode: null, job: null }, runView)
    return EXIT.ok
  }
  const takeHome = async () => (leavesOutputs(spec) ? takeGroupOutputs(client, group, options.out, cli.io) : null)
  const code = await runGroup(client, group, cli, out, takeHome)
  await sayUnsent(code, spec, cli, out)
  return code
}
