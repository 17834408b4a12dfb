import type { DependencyKind, TerminalState } from '@stoker/protocol'
import { isMetBy } from '../edges.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'

/** Edges settled in one commit, about 10 ms of writing; the rest follows in the next ones. */
const MOST_A_COMMIT = 1000

/** Tells those who wait for jobs that have ended: each edge is met, or can no longer be and its job is canceled, which may settle others in turn. Work begun here is not forgotten: what is left is `state.settling`. */
export function settle(state: State, now: Now, emit: Emit): void {
  let left = MOST_A_COMMIT
  for (const [dependency, end] of state.settling) {
    for (let edge = state.edges.firstTo(dependency); edge !== null; edge = state.edges.firstTo(dependency)) {
      if (left === 0) return
      left -= 1
      const { job, id, kind } = edge
      if (isMetBy(kind, end)) emit.change({ c: 'met', job, dependency, at: now.wall })
      else emit.change({ c: 'ended', job, state: 'canceled', reason: tooLate(kind, id, end), at: now.wall })
    }
  }
}

/** The two facts that disagree: what was asked of the other job, and what it is. */
export function tooLate(kind: DependencyKind, id: string, end: TerminalState): string {
  return `it needs the ${kind} of job ${id}, which is ${end}`
}
