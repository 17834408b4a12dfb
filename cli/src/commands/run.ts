import type { Client } from '@stoker/client'
import { isSweep, PROGRAM_TYPES } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { sendFiles } from '../files/send-files.ts'
import { takeOutputs } from '../files/take-outputs.ts'
import { TransferLine } from '../files/transfer-line.ts'
import { followToEnd, runView, stopOnSignal } from '../follow/run-to-end.ts'
import { examples } from '../output/examples.ts'
import { hint } from '../output/hints.ts'
import { shortId } from '../output/job-words.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, type Printer, printerFor, withOutput } from '../output/printer.ts'
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
      `${examples(['run -- python3 train.py --epochs 3'], ['run --gpus 1 --timeout 2h job.yaml'], ['run --image python:3.11-slim -- python3 -V'], ['run --preset test-loading/inference --input topic=kites'], ['run --detach --name night -- make all'])}

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
      const hasOutputs =
        options.output !== undefined || spec.outputs !== undefined || isProgram(options.type ?? spec.type)
      const takeHome = async () => (hasOutputs ? takeOutputs(client, id, { out: options.out, sent }, cli.io) : null)
      return await followToEnd(client, id, cli, out, stop.left, takeHome)
    } finally {
      stop.release()
    }
  })
}

/** Of programs that come along `outputs/` is kept without a word. */
function isProgram(type: unknown): boolean {
  return PROGRAM_TYPES.some(name => name === type)
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
