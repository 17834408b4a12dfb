import type { State } from '../engine/state.ts'
import { hasCause, presentState } from '../engine/waiting.ts'
import type { Complain } from './problems.ts'

/** Every waiting job has a cause that can still go away: nothing waits for ever without anyone to blame. */
export function checkWaiting(state: State, complain: Complain): void {
  for (const waiting of state.waiting.values()) {
    if (!hasCause(state, waiting)) complain('c', `job ${waiting.seq} is waiting, but for nothing`)
  }
  for (const job of state.edges.jobs()) {
    if (!state.waiting.has(job)) complain('c', `job ${job} has dependencies, but it is not waiting`)
    for (const { dependency } of state.edges.of(job)) {
      if (presentState(state, dependency) === null)
        complain('c', `job ${job} waits for job ${dependency}, which has ended and will tell nobody`)
    }
  }
}
