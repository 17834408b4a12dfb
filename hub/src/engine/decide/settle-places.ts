import { isInPlace } from '../sessions.ts'
import { type Claim, claimKey, type Now, type State } from '../state.ts'
import type { Emit } from './emit.ts'
import { loseAttempt } from './loss.ts'

/** Tasks failed in one commit for the end of their session; the rest follows in the next ones. */
const MOST_A_COMMIT = 1000

/**
 * No task outlives the attempt of the session it has a place in: what its worker did not end before is lost with it.
 * And no task waits for a session that has ended: what is left to be told is `state.orphans`.
 */
export function settlePlaces(state: State, now: Now, emit: Emit): void {
  for (const claim of state.vacated.splice(0)) losePlace(state, claim, now, emit)
  if (state.orphans.size > 0) failOrphans(state, now, emit)
}

function losePlace(state: State, claim: Claim, now: Now, emit: Emit): void {
  const { job, epoch, attempt, worker, session } = claim
  const active = state.active.get(job)
  if (session === null || isInPlace(state, claim)) return
  const host = state.workers.get(worker)
  if (active?.claim === claim) loseAttempt(active, 'the session it had a place in is gone from its worker', now, emit)
  const mayReturn = host?.lost.has(claimKey(session)) === true
  if (!mayReturn && host?.lost.has(claimKey(claim)) === true)
    emit.change({ c: 'released', job, epoch, attempt, worker, at: now.wall })
}

function failOrphans(state: State, now: Now, emit: Emit): void {
  let left = MOST_A_COMMIT
  for (const name of [...state.orphans]) {
    const target = state.targets.get(name)
    const reason = `session ended: ${target?.ended ?? 'it was gone when the task was queued'}`
    for (const bucket of [...(target?.buckets ?? [])]) {
      for (let job = state.queued.oldest(bucket); job !== null; job = state.queued.oldest(bucket)) {
        if (left === 0) return
        left -= 1
        emit.change({ c: 'ended', job, state: 'failed', reason, at: now.wall })
      }
    }
  }
}
