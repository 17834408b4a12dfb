import type { Io } from './io.ts'

export interface ErrorReport {
  readonly code: string
  readonly message: string
  readonly exitCode: number
  readonly details: readonly string[]
}

/** What stands before `--` is ours; the words behind it belong to a program. */
export function ownWords(argv: readonly string[]): readonly string[] {
  return argv.slice(0, argv.includes('--') ? argv.indexOf('--') : undefined)
}

/** With --json an error is one value on stdout too, so that a script always has something to read. */
export function printJsonError(io: Io, argv: readonly string[], report: ErrorReport): void {
  if (ownWords(argv).includes('--json')) io.stdout.write(`${JSON.stringify({ error: report })}\n`)
}
