import type { JobSpecInput } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { sendFiles } from '../files/send-files.ts'
import { TransferLine } from '../files/transfer-line.ts'
import { plainText } from '../output/plain-text.ts'
import { type OutputOptions, printerFor, type View, withOutput } from '../output/printer.ts'
import type { OutputOf } from '../output/schemas.ts'
import { locateIssues } from '../spec/locate-issues.ts'
import { readSpecs } from '../spec/read-specs.ts'
import { applySpecOptions, type SpecOptions, withSpecOptions } from '../spec/spec-options.ts'

type SubmitOptions = SpecOptions & OutputOptions & { readonly key?: string }

export function define(command: Command, cli: Cli): void {
  withOutput(withSpecOptions(command))
    .argument('<files...>', 'YAML or JSON; several documents or a list are a batch; - is stdin')
    .option('--key <text>', 'idempotency key: submitting again with it gives the same jobs')
    .action((files: string[], options: SubmitOptions) => submit(files, options, cli))
}

async function submit(files: readonly string[], options: SubmitOptions, cli: Cli): Promise<void> {
  const found = (await Promise.all(files.map(file => readSpecs(file, cli.io)))).flat()
  await withHub(cli.io, options, async client => {
    const line = new TransferLine(cli.io)
    const specs: JobSpecInput[] = []
    for (const one of found) {
      const { spec } = await sendFiles(client, one, options.files ?? [], cli.io.folder, line)
      specs.push(applySpecOptions(spec, options))
    }
    try {
      const jobs = await client.submitMany(specs, { failFast: options.failFast, idempotencyKey: options.key })
      printerFor(cli.io, options).show({ jobs: [...jobs] }, submittedView)
    } catch (error) {
      throw locateIssues(error, found)
    }
  })
}

const submittedView: View<OutputOf<'submit'>> = {
  ids: ({ jobs }) => jobs.map(job => job.id),
  human: ({ jobs }) =>
    jobs
      .map(job => (job.unschedulable === null ? job.id : `${job.id}  waits: ${plainText(job.unschedulable)}`))
      .join('\n'),
}
