import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { examples } from '../output/examples.ts'
import { type OutputOptions, withOutput } from '../output/printer.ts'
import { JOB_HELP } from '../select/resolve-jobs.ts'
import { get } from './artifacts.ts'

type ResultsOptions = OutputOptions & { readonly output?: string; readonly extract?: boolean }

/** Another name for `artifacts get`, as people know it from TrainForge. */
export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .argument('<job>', JOB_HELP)
    .option('-o, --output <path>', 'where to put them (./stoker-outputs/<job>)')
    .option('--no-extract', 'as one tar archive')
    .addHelpText('after', examples(['results last'], ['results last -o results.tar --no-extract']))
    .action((job: string, { output, extract, ...options }: ResultsOptions) => {
      const place = extract === false ? { tar: output ?? 'results.tar' } : output === undefined ? {} : { out: output }
      return get(job, [], { ...options, ...place }, cli)
    })
}
