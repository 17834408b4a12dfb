import type { Command } from 'commander'
import type { Cli } from '../command-table.ts'
import { findingsView } from '../doctor/findings.ts'
import { hubFindings } from '../doctor/hub-findings.ts'
import { hubFolderFindings, machineFindings } from '../doctor/machine-findings.ts'
import { EXIT } from '../exit-codes.ts'
import { type OutputOptions, printerFor, withOutput } from '../output/printer.ts'

type DoctorOptions = OutputOptions & { readonly data?: string }

export function define(command: Command, cli: Cli): void {
  withOutput(command)
    .option('--data <folder>', `where hub and worker keep everything (${cli.io.config.dataFolder})`)
    .addHelpText('after', '\nExit code: 0 when nothing is bad, 1 when something is.')
    .action(async (options: DoctorOptions) => cli.exitWith(await doctor(options, cli)))
}

async function doctor(options: DoctorOptions, { io }: Cli): Promise<number> {
  const data = options.data ?? io.config.dataFolder
  const parts = await Promise.all([
    machineFindings(io, data),
    hubFolderFindings(data),
    hubFindings(io, options.context),
  ])
  const findings = parts.flat()
  const isWell = findings.every(one => one.level !== 'bad')
  printerFor(io, options).show({ ok: isWell, findings }, findingsView)
  return isWell ? EXIT.ok : EXIT.error
}
