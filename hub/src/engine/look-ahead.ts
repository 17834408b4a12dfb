import type { SessionState } from './sessions.ts'

/** Tasks a session may be given beyond its places: enough to hide the way between hub and worker from short tasks. */
export const MOST_AHEAD = 16
/** Of a session with one place: then the last of those ahead waits a third of a second. */
const QUICK_MS = 20
/** Several places get through more at once, and a program that has them often takes its tasks in turn. */
const MOST_TIMES = 4
/** A session is taken for slow until several tasks in a row were quick. */
export const UNKNOWN_MS = 100
/** One very long task is forgotten after a dozen short ones. */
const LONGEST_MS = 400

/** A moving average; that a session gets tasks ahead rests on it alone, so nobody is wrong who has forgotten it. */
export function learnTask(session: SessionState, tookMs: number): void {
  session.taskMs += (Math.min(LONGEST_MS, tookMs) - session.taskMs) / 4
}

/** Tasks that take less than this are short. */
export function quickMs(concurrency: number): number {
  return QUICK_MS * Math.min(concurrency, MOST_TIMES)
}

/** How many tasks a session may hold now, those in its places included. */
export function roomIn({ terms, readyAt, taskMs }: SessionState): number {
  const isQuick = readyAt !== null && taskMs < quickMs(terms.concurrency)
  return terms.concurrency + (isQuick ? MOST_AHEAD : 0)
}

/** Tasks that were given ahead: they wait on the session's worker for a place. */
export function countAhead({ terms, places }: Pick<SessionState, 'terms' | 'places'>): number {
  return Math.max(0, places.size - terms.concurrency)
}
