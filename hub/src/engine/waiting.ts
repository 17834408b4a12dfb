import type { ChangeOf, JobState, TerminalState } from '@stoker/protocol'
import type { State, WaitingJob } from './state.ts'

/**
 * Why a job waits: dependencies that are not met (edges), a hold, a backoff (dueAt). A job waits while it has at least
 * one cause and is queued by the change that takes the last one away.
 */
export function hasCause(state: State, { seq, heldBy, dueAt }: WaitingJob): boolean {
  return heldBy !== null || dueAt !== null || state.edges.has(seq)
}

/** What the job becomes when the change takes one cause away: asked before the change is applied. */
export function stateAfter(
  state: State,
  change: ChangeOf<'met'> | ChangeOf<'due'> | ChangeOf<'holdLifted'>,
): 'waiting' | 'queued' {
  const { heldBy, dueAt } = waitingOf(state, change.job)
  const isHeld = heldBy !== null && change.c !== 'holdLifted'
  const isLater = dueAt !== null && change.c !== 'due'
  const lastEdges = change.c === 'met' ? 1 : 0
  return isHeld || isLater || countUpTo(state.edges.of(change.job), lastEdges + 1) > lastEdges ? 'waiting' : 'queued'
}

export function putWaiting(state: State, job: WaitingJob): void {
  state.waiting.set(job.seq, job)
  if (job.dueAt === null) state.backoffs.delete(job.seq)
  else state.backoffs.add(job.seq)
}

export function takeWaiting(state: State, seq: number): WaitingJob {
  const waiting = waitingOf(state, seq)
  state.waiting.delete(seq)
  state.backoffs.delete(seq)
  return waiting
}

export function waitingOf(state: State, seq: number): WaitingJob {
  const waiting = state.waiting.get(seq)
  if (waiting === undefined) throw new Error(`job ${seq} is not waiting`)
  return waiting
}

/** The edge is met or its job has ended; a dependency nobody waits for any more needs no settling. */
export function dropEdge(state: State, job: number, dependency: number): void {
  state.edges.remove(job, dependency)
  if (!state.edges.isAwaited(dependency)) state.settling.delete(dependency)
}

export function dropEdgesOf(state: State, job: number): void {
  for (const { dependency } of [...state.edges.of(job)]) dropEdge(state, job, dependency)
}

/** The job has ended: those that wait for it are told from here on, a part at a time. */
export function beginSettling(state: State, job: number, end: TerminalState): void {
  if (state.edges.isAwaited(job)) state.settling.set(job, end)
}

/** The state of a job that can still change, or that ended so lately that some who wait for it were not told; null for all others. */
export function presentState(state: State, seq: number): JobState | null {
  if (state.queued.has(seq)) return 'queued'
  if (state.active.has(seq)) return 'active'
  return state.waiting.has(seq) ? 'waiting' : (state.settling.get(seq) ?? null)
}

function countUpTo(items: Iterable<unknown>, most: number): number {
  let count = 0
  for (const _ of items) {
    count += 1
    if (count >= most) break
  }
  return count
}
