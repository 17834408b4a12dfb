import type { JobSpecInput } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { sendFiles } from '../files/send-files.ts'
import { TransferLine } from '../files/transfer-line.ts'
import { examples } from '../output/examples.ts'
import { submittedView } from '../output/group-views.ts'
import { hint } from '../output/hints.ts'
import { shortId } from '../output/job-words.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { wholeIds } from '../select/whole-ids.ts'
import { locateIssues } from '../spec/locate-issues.ts'
import { readSpecs } from '../spec/read-specs.ts'
import { applySpecOptions, type SpecOptions, withSpecOptions } from '../spec/spec-options.ts'
import { applySweepOptions, type SweepOptions, withSweepOptions } from '../spec/sweep-options.ts'

type SubmitOptions = SpecOptions & SweepOptions & OutputOptions & { readonly key?: string }

export function define(command: Command, cli: Cli): void {
  withOutput(withSweepOptions(withSpecOptions(command)))
    .argument('<files...>', 'YAML or JSON; several documents or a list are a batch; - is stdin')
    .option('--key <text>', 'idempotency key: submitting again with it gives the same jobs')
    .addHelpText('after', examples(['submit job.yaml'], ['submit --key nightly-7 batch.yaml'], ['submit - < job.json']))
    .action((files: string[], options: SubmitOptions) => submit(files, options, cli))
}

async function submit(files: readonly string[], options: SubmitOptions, cli: Cli): Promise<void> {
  const found = (await Promise.all(files.map(file => readSpecs(file, cli.io)))).flat()
  await withHub(cli.io, options, async client => {
    const whole = await wholeIds(client, options)
    const line = new TransferLine(cli.io)
    const specs: JobSpecInput[] = []
    for (const one of found) {
      const { spec } = await sendFiles(client, one, options.files ?? [], cli.io.folder, line)
      specs.push(applySweepOptions(applySpecOptions(spec, whole), options))
    }
    try {
      const submitted = await client.submitAll(specs, { failFast: options.failFast, idempotencyKey: options.key })
      const out = printerFor(cli.io, options)
      out.show(submitted, submittedView)
      const [first, ...others] = submitted.jobs
      const [group] = submitted.groups
      if (group !== undefined) hint(cli.io, out, `group show ${shortId(group.id)}`, `group wait ${shortId(group.id)}`)
      else if (first !== undefined && others.length === 0)
        hint(cli.io, out, `logs -f ${shortId(first.id)}`, `wait ${shortId(first.id)}`)
      else hint(cli.io, out, 'list')
    } catch (error) {
      throw locateIssues(error, found)
    }
  })
}
