import type { JobRow, JobState } from '@stoker/protocol'

export const TASK_STATES = ['pending', 'running', 'completed', 'failed', 'timeout', 'cancelled'] as const
export type TaskState = (typeof TASK_STATES)[number]

const STATES: Readonly<Record<JobState, TaskState>> = {
  waiting: 'pending',
  queued: 'pending',
  active: 'running',
  succeeded: 'completed',
  failed: 'failed',
  timed_out: 'timeout',
  canceled: 'cancelled',
}

/** A job's state in the words of this dialect; one that has a GPU and prepares its program is running. */
export function taskState(state: JobState): TaskState {
  return STATES[state]
}

/** The states of the house a word of this dialect stands for. */
export function jobStates(wanted: TaskState): readonly JobState[] {
  return (Object.keys(STATES) as JobState[]).filter(state => STATES[state] === wanted)
}

/** Null for a task that has not failed. */
export function errorOf({ state, reason, error }: Pick<JobRow, 'state' | 'reason' | 'error'>): string | null {
  return taskState(state) === 'completed' ? null : (reason ?? error)
}

/** Whole seconds its program ran, until now for one that runs. */
export function elapsedSeconds(
  { startedAt, runningAt, endedAt, submittedAt }: Pick<JobRow, 'startedAt' | 'runningAt' | 'endedAt' | 'submittedAt'>,
  now: number,
): number {
  return Math.max(0, Math.floor(((endedAt ?? now) - (startedAt ?? runningAt ?? endedAt ?? submittedAt)) / 1000))
}
