import { HubRefused, HubUnreachable } from '@stoker/client'
import { type ErrorReport, ownWords, printJsonError } from './error-report.ts'
import { EXIT, exitCodeOfProblem } from './exit-codes.ts'
import { Failure } from './failure.ts'
import type { Io } from './io.ts'

/** Says an error once: a sentence on stderr, and with --json one value on stdout. */
export function reportError(error: unknown, io: Io, argv: readonly string[]): number {
  const described = describeError(error, io)
  const isRun = ownWords(argv)[0] === 'run'
  const report = { ...described, exitCode: isRun ? exitCodeOfOwnFailure(described.exitCode) : described.exitCode }
  printJsonError(io, argv, report)
  io.stderr.write(`stoker: ${[report.message, ...report.details.map(line => `  ${line}`)].join('\n')}\n`)
  return report.exitCode
}

/** `run` speaks with the codes of programs: what is its own fault must not look like theirs. */
function exitCodeOfOwnFailure(exitCode: number): number {
  return exitCode === EXIT.usage || exitCode === EXIT.unschedulable ? exitCode : EXIT.runFailed
}

function describeError(error: unknown, io: Io): ErrorReport {
  if (error instanceof Failure) return { ...pick(error), code: error.code, exitCode: error.exitCode }
  if (error instanceof HubUnreachable) {
    const details = ['start one here with `stoker up`, or choose another with `stoker context use NAME`']
    return { code: 'hub.unreachable', message: error.message, exitCode: EXIT.unreachable, details }
  }
  if (error instanceof HubRefused) {
    const { problem } = error
    const issues = problem.errors?.map(({ path, message }) => `${path}: ${message}`) ?? []
    const details = [...issues, ...hintFor(problem.code, io)]
    const message = issues.length === 0 ? error.message : problem.title
    return { code: problem.code, message, exitCode: exitCodeOfProblem(problem), details }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { code: 'cli.failed', message, exitCode: EXIT.error, details: [] }
}

function pick(error: Failure): { message: string; details: readonly string[] } {
  return { message: error.message, details: error.details }
}

function hintFor(code: string, io: Io): string[] {
  if (code !== 'auth.missing' && code !== 'auth.invalid') return []
  return [`the token comes from ${io.config.token === undefined ? io.config.contextsFile : '$STOKER_TOKEN'}`]
}
