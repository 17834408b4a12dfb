import type { JobState } from '@stoker/protocol'

/** How this dialect calls the states of a job that is not at work. */
const STATUSES = {
  waiting: 'PENDING',
  queued: 'PENDING',
  succeeded: 'COMPLETED',
  failed: 'FAILED',
  timed_out: 'FAILED',
  canceled: 'CANCELLED',
} as const

export type JobStatus = (typeof STATUSES)[keyof typeof STATUSES] | 'ASSIGNED' | 'RUNNING'

export function jobStatus({
  state,
  runningAt,
}: {
  readonly state: JobState
  readonly runningAt: number | null
}): JobStatus {
  if (state !== 'active') return STATUSES[state]
  return runningAt === null ? 'ASSIGNED' : 'RUNNING'
}
