import { constants } from 'node:os'
import type { Job } from '@stoker/protocol'

/** The documented exit codes; scripts rely on them. */
export const EXIT = {
  ok: 0,
  error: 1,
  usage: 2,
  notFound: 3,
  notAllowed: 4,
  unschedulable: 6,
  unreachable: 8,
  failed: 100,
  canceled: 103,
  timedOut: 124,
  runFailed: 125,
  left: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What a problem of the hub means for a script. */
export function exitCodeOfProblem(problem: { readonly status: number; readonly code: string }): ExitCode {
  if (problem.code === 'job.unschedulable') return EXIT.unschedulable
  if (problem.status === 400) return EXIT.usage
  if (problem.status === 404) return EXIT.notFound
  return problem.status === 401 || problem.status === 403 ? EXIT.notAllowed : EXIT.error
}

/** How `wait` ends: by the state of the job alone. */
export function exitCodeOfState(state: Job['state']): ExitCode {
  if (state === 'succeeded') return EXIT.ok
  if (state === 'canceled') return EXIT.canceled
  return state === 'timed_out' ? EXIT.timedOut : EXIT.failed
}

/** How `run` ends: like the program itself where it ended by itself, 128 + n by a signal, else by the state. */
export function exitCodeOfRun(job: Pick<Job, 'state' | 'exitCode' | 'signal'>): number {
  if (job.state !== 'failed') return exitCodeOfState(job.state)
  if (job.signal !== null) return 128 + (signalNumber(job.signal) ?? 0)
  return job.exitCode === null || job.exitCode === 0 ? EXIT.failed : job.exitCode
}

function signalNumber(name: string): number | undefined {
  return (constants.signals as Readonly<Record<string, number>>)[name]
}
