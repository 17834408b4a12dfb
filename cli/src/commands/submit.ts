import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { examples } from '../output/examples.ts'
import { hint } from '../output/hints.ts'
import { shortId } from '../output/job-words.ts'
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
    .addHelpText('after', examples(['submit job.yaml'], ['submit --key nightly-7 batch.yaml'], ['submit - < job.json']))
    .action((files: string[], options: SubmitOptions) => submit(files, options, cli))
}

async function submit(files: readonly string[], options: SubmitOptions, cli: Cli): Promise<void> {
  const found = (await Promise.all(files.map(file => readSpecs(file, cli.io)))).flat()
  const specs = found.map(one => applySpecOptions(one.spec, options))
  await withHub(cli.io, options, async client => {
    try {
      const jobs = await client.submitMany(specs, { failFast: options.failFast, idempotencyKey: options.key })
      const out = printerFor(cli.io, options)
      out.show({ jobs: [...jobs] }, submittedView)
      const [first] = jobs
      if (first !== undefined && jobs.length === 1)
        hint(cli.io, out, `logs -f ${shortId(first.id)}`, `wait ${shortId(first.id)}`)
      else hint(cli.io, out, 'list')
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
