import type { Io } from '../io.ts'
import type { Printer } from './printer.ts'

export function quietPrinter(io: Io): Printer {
  return {
    kind: 'quiet',
    show(value, view) {
      for (const id of view.ids(value)) io.stdout.write(`${id}\n`)
    },
    note: () => {},
  }
}
