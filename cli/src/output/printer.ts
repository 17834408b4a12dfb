import type { Command } from 'commander'
import type { Io } from '../io.ts'
import { humanPrinter } from './human.ts'
import { jsonPrinter } from './json.ts'
import type { Paper } from './paper.ts'
import { quietPrinter } from './quiet.ts'

/** The three faces of a result; the JSON face is the value itself. */
export interface View<T> {
  readonly human: (value: T, paper: Paper) => string
  readonly ids: (value: T) => readonly string[]
}

export interface Printer {
  readonly kind: 'human' | 'json' | 'quiet'
  /** The result of the command: once. */
  readonly show: <T>(value: T, view: View<T>) => void
  /** Talk beside the result; only people hear it. */
  readonly note: (text: string) => void
}

export interface OutputOptions {
  readonly json?: boolean | undefined
  readonly quiet?: boolean | undefined
  readonly context?: string | undefined
}

/** The options every command that talks to a hub has. */
export function withOutput(command: Command): Command {
  return command
    .option('--json', 'print exactly one JSON value (see: stoker schema)')
    .option('-q, --quiet', 'print ids only')
    .option('--context <name>', 'talk to this hub instead of the current one')
}

export function printerFor(io: Io, options: OutputOptions): Printer {
  if (options.json === true) return jsonPrinter(io)
  return options.quiet === true ? quietPrinter(io) : humanPrinter(io)
}
