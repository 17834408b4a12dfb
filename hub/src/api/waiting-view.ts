import type { JobRow, WaitingFor } from '@stoker/protocol'
import type { State } from '../engine/state.ts'
import { presentState } from '../engine/waiting.ts'
import { isoTime } from './iso-time.ts'

/** Enough to see what is going on; the spec has all of them. */
const SHOWN_DEPENDENCIES = 20

/** Why a job waits, from live state alone; null if it does not, or if it went on since its row was read. */
export function viewWaiting(row: Pick<JobRow, 'seq' | 'state'>, state: State): WaitingFor | null {
  const waiting = row.state === 'waiting' ? state.waiting.get(row.seq) : undefined
  if (waiting === undefined) return null
  const dependencies: WaitingFor['dependencies'] = []
  let unmet = 0
  for (const { dependency, id, kind } of state.edges.of(row.seq)) {
    unmet += 1
    const other = presentState(state, dependency)
    if (other !== null && dependencies.length < SHOWN_DEPENDENCIES)
      dependencies.push({ job: id, on: kind, state: other })
  }
  const retryAt = waiting.dueAt === null ? null : isoTime(waiting.dueAt)
  return { dependencies, unmet, heldBy: waiting.heldBy, retryAt }
}

/** The same as a sentence. */
export function waitingReason({ dependencies, unmet, heldBy, retryAt }: WaitingFor): string {
  const [first] = dependencies
  const more = unmet > 1 ? ` and ${unmet - 1} more` : ''
  const causes = [
    heldBy === null ? '' : `held by ${heldBy}`,
    first === undefined ? '' : `waits for the ${first.on} of job ${first.job} (${first.state})${more}`,
    retryAt === null ? '' : `tries again at ${retryAt}`,
  ]
  return causes.filter(cause => cause !== '').join('; ')
}
