import type { ExitCode } from './exit-codes.ts'

/** A command cannot do what was asked: the sentence for the person, and the code for the script. */
export class Failure extends Error {
  readonly exitCode: ExitCode
  readonly code: string
  readonly details: readonly string[]

  constructor(
    message: string,
    of: {
      readonly exitCode?: ExitCode | undefined
      readonly code?: string | undefined
      readonly details?: readonly string[] | undefined
      readonly cause?: unknown
    } = {},
  ) {
    super(message, { cause: of.cause })
    this.name = 'Failure'
    this.exitCode = of.exitCode ?? 1
    this.code = of.code ?? 'cli.failed'
    this.details = of.details ?? []
  }
}
