import type { Io } from '../io.ts'
import type { Printer } from './printer.ts'

export function jsonPrinter(io: Io): Printer {
  return { kind: 'json', show: value => io.stdout.write(`${JSON.stringify(value)}\n`), note: () => {} }
}
