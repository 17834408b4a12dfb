import { parseSize } from '@stoker/protocol'
import { type Command, InvalidArgumentError } from 'commander'
import type { Cli } from '../command-table.ts'
import { withHub } from '../connect.ts'
import { EXIT } from '../exit-codes.ts'
import { Failure } from '../failure.ts'
import { ownerPageView, ownerView } from '../output/owner-views.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'
import { wholeNumber } from '../spec/spec-options.ts'

type Limit = number | 'none'

interface Limits {
  readonly queued?: Limit
  readonly running?: Limit
  readonly gpus?: Limit
  readonly bytes?: Limit
}

export function define(command: Command, cli: Cli): void {
  withOutput(command.command('list').description('list owners with their jobs, what they use and their limits'))
    .option('-n, --limit <n>', 'how many (100; at most 1000)', wholeNumber)
    .option('--cursor <cursor>', 'continue where a list ended')
    .action(({ json, quiet, context, ...of }: OutputOptions & { readonly limit?: number; readonly cursor?: string }) =>
      withHub(cli.io, { context }, async client => {
        printerFor(cli.io, { json, quiet }).show(await client.owners(of), ownerPageView)
      }),
    )
  withOutput(command.command('show').description('show one owner'))
    .argument('<owner>', 'name of the owner')
    .action((owner: string, options: OutputOptions) =>
      withHub(cli.io, options, async client => {
        printerFor(cli.io, options).show(await client.owner(owner), ownerView)
      }),
    )
  withOutput(command.command('limit').description('change limits of an owner; those not named stay (admin)'))
    .argument('<owner>', 'name of the owner')
    .option('--queued <n>', 'jobs that wait, or none', countOf)
    .option('--running <n>', 'jobs that run at once, or none', countOf)
    .option('--gpus <n>', 'GPUs in use at once, or none', countOf)
    .option('--bytes <size>', 'stored content, like 10GB, or none', bytesOf)
    .action((owner: string, { json, quiet, context, ...limits }: OutputOptions & Limits) =>
      withHub(cli.io, { context }, async client => {
        if (Object.keys(limits).length === 0)
          throw new Failure('name a limit: --queued, --running, --gpus or --bytes', { exitCode: EXIT.usage })
        const before = await client.owner(owner)
        const named = Object.entries(limits).map(([name, limit]) => [name, limit === 'none' ? null : limit])
        await client.setLimits(owner, { ...before.limits, ...Object.fromEntries(named) })
        printerFor(cli.io, { json, quiet }).show(await client.owner(owner), ownerView)
      }),
    )
}

function countOf(text: string): Limit {
  return text === 'none' ? text : wholeNumber(text)
}

function bytesOf(text: string): Limit {
  if (text === 'none') return text
  const bytes = parseSize(text)
  if (bytes === null) throw new InvalidArgumentError('It should be a size like 10GB, or none.')
  return bytes
}
