import type { AttemptState, JobState } from '@stoker/protocol'

/**
 * A job's life. waiting: for other jobs, for the end of a hold or of a backoff (waiting.ts). queued: may be placed. active: an attempt exists.
 * A lost attempt puts the job back to queued; if the attempt comes back first, the job is active again.
 */
const NEXT_JOB: Readonly<Record<JobState, readonly JobState[]>> = {
  waiting: ['queued', 'failed', 'canceled'],
  queued: ['waiting', 'active', 'failed', 'canceled'],
  active: ['queued', 'waiting', 'succeeded', 'failed', 'canceled', 'timed_out'],
  succeeded: [],
  failed: [],
  canceled: [],
  timed_out: [],
}

/** An attempt's life: news may skip states (a short program is reported once), but never goes back. */
const NEXT_ATTEMPT: Readonly<Record<AttemptState, readonly AttemptState[]>> = {
  leased: ['starting', 'running', 'stopping', 'ended'],
  starting: ['running', 'stopping', 'ended'],
  running: ['stopping', 'ended'],
  stopping: ['ended'],
  ended: [],
}

/** The only way a job changes state: a wrong move is impossible, not unlikely. */
export function moveJob(from: JobState, to: JobState): JobState {
  if (!NEXT_JOB[from].includes(to)) throw new Error(`a job that is ${from} cannot become ${to}`)
  return to
}

export function canMoveAttempt(from: AttemptState, to: AttemptState): boolean {
  return NEXT_ATTEMPT[from].includes(to)
}
