import { z } from 'zod'

/** waiting → queued → active → one terminal state; terminal is final. */
export const JobState = z.enum(['waiting', 'queued', 'active', 'succeeded', 'failed', 'canceled', 'timed_out'])
export type JobState = z.infer<typeof JobState>

export const TERMINAL_STATES = ['succeeded', 'failed', 'canceled', 'timed_out'] as const
export type TerminalState = (typeof TERMINAL_STATES)[number]

/** leased → starting → running → stopping → ended. */
export const AttemptState = z.enum(['leased', 'starting', 'running', 'stopping', 'ended'])
export type AttemptState = z.infer<typeof AttemptState>

/** How an attempt ended; `lost` and `declined` say nothing about the program and cost no retry. */
export const Outcome = z.enum(['completed', 'failed', 'canceled', 'timed_out', 'lost', 'declined'])
export type Outcome = z.infer<typeof Outcome>

export function isTerminal(state: JobState): state is TerminalState {
  return (TERMINAL_STATES as readonly string[]).includes(state)
}
