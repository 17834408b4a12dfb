import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { unlessAbsent } from '@stoker/files'
import type { JobSpecInput } from '@stoker/protocol'
import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { readySpec } from '../files/ready-spec.ts'
import { examples } from '../output/examples.ts'
import { submittedView } from '../output/group-views.ts'
import { hint } from '../output/hints.ts'
import { shortId } from '../output/job-words.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { type ChangeOptions, withChangeOptions } from '../project/push-options.ts'
import { pushProject } from '../project/push-project.ts'
import { wholeIds } from '../select/whole-ids.ts'
import { located } from '../spec/locate-issues.ts'
import { readSpecs } from '../spec/read-specs.ts'
import { type SpecOptions, withSubmitOptions } from '../spec/spec-options.ts'
import { applySweepOptions, type SweepOptions, withSweepOptions } from '../spec/sweep-options.ts'

type SubmitOptions = SpecOptions &
  SweepOptions &
  OutputOptions &
  ChangeOptions & { readonly key?: string; readonly n?: string }

export function define(command: Command, cli: Cli): void {
  withOutput(withChangeOptions(withSweepOptions(withSubmitOptions(command))))
    .argument(
      '<files...>',
      'YAML or JSON; several documents or a list are a batch; - is stdin; or the folder of a project',
    )
    .option('-n <text>', 'as --name')
    .option('--key <text>', 'idempotency key: submitting again with it gives the same jobs')
    .addHelpText(
      'after',
      examples(
        ['submit job.yaml'],
        ['submit --key nightly-7 batch.yaml'],
        ['submit - < job.json'],
        ['submit ./project', 'as: push --path ./project'],
      ),
    )
    .action((files: string[], options: SubmitOptions) => submit(files, options, cli))
}

async function submit(files: readonly string[], options: SubmitOptions, cli: Cli): Promise<void> {
  const [path = '', ...others] = files
  if (others.length === 0 && (await isFolder(resolve(cli.io.folder, path)))) {
    const { name = options.n, resources, workers } = options
    return cli.exitWith(await pushProject({ path, changes: { name, resources, workers } }, options, cli))
  }
  const found = (await Promise.all(files.map(file => readSpecs(file, cli.io)))).flat()
  await withHub(cli.io, options, async client => {
    const whole = await wholeIds(client, options)
    const specs: JobSpecInput[] = []
    for (const one of found) {
      const { spec } = await readySpec(client, one, whole, cli.io)
      specs.push(applySweepOptions(spec, options))
    }
    const { failFast, key } = options
    const submitted = await client.submitAll(specs, { failFast, idempotencyKey: key }).catch(located(found))
    const out = printerFor(cli.io, options)
    out.show(submitted, submittedView)
    const [first, ...others] = submitted.jobs
    const [group] = submitted.groups
    if (group !== undefined) hint(cli.io, out, `group show ${shortId(group.id)}`, `group wait ${shortId(group.id)}`)
    else if (first !== undefined && others.length === 0)
      hint(cli.io, out, `logs -f ${shortId(first.id)}`, `wait ${shortId(first.id)}`)
    else hint(cli.io, out, 'list')
  })
}

async function isFolder(path: string): Promise<boolean> {
  return (await unlessAbsent(stat(path)))?.isDirectory() === true
}
