import type { Io } from '../io.ts'
import { paperOf } from './paper.ts'
import type { Printer } from './printer.ts'

/** Lines to type next, for a person at a terminal; a pipe, --json and --quiet get none. */
export function hint(io: Io, out: Printer, ...lines: readonly string[]): void {
  if (out.kind !== 'human' || !io.stderr.isTTY) return
  const { color } = paperOf(io, io.stderr)
  for (const line of lines) out.note(color.dim(`  ${io.config.command} ${line}`))
}
