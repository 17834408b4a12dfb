import type { Io } from '../io.ts'
import { paperOf } from './paper.ts'
import type { Printer } from './printer.ts'

export function humanPrinter(io: Io): Printer {
  return {
    kind: 'human',
    show(value, view) {
      const text = view.human(value, paperOf(io, io.stdout))
      if (text !== '') io.stdout.write(`${text}\n`)
    },
    note: text => io.stderr.write(`${text}\n`),
  }
}
