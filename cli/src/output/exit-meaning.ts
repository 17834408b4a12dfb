import type { Job } from '@stoker/protocol'

const CODES: Readonly<Record<number, string>> = {
  126: 'the program may not be executed',
  127: 'the program was not found',
}

const SIGNALS: Readonly<Record<string, string>> = {
  SIGKILL: 'killed from outside, often for lack of memory',
  SIGSEGV: 'it touched memory that is not its own',
  SIGABRT: 'it gave up by itself',
  SIGBUS: 'it touched memory that is not there',
  SIGFPE: 'a division by zero or the like',
  SIGILL: 'it holds instructions this processor does not have',
  SIGTERM: 'it was asked to end',
}

/** What an exit code or signal usually means, for those that have a common meaning; empty for all others. */
export function exitMeaning(job: Pick<Job, 'exitCode' | 'signal'>): string {
  if (job.signal !== null) return SIGNALS[job.signal] ?? ''
  return job.exitCode === null ? '' : (CODES[job.exitCode] ?? '')
}
