import { touchWorker } from '../claims.ts'
import type { Command, Facts, Replies } from '../commands.ts'
import type { ActiveJob, Now, State } from '../state.ts'
import { waitingOf } from '../waiting.ts'
import type { Emit, Rules } from './emit.ts'
import { loseAttempt } from './loss.ts'
import { endSessions } from './sessions.ts'

const YOUNG_LEASE_MS = 12_000
const OLD_LEASE_SHARE = 0.05
const LONGEST_LEASE_MS = 600_000
/** A worker that answers but says nothing of an offer this long has dropped it. */
const UNANSWERED_MS = 60_000
const MAX_IDLE_BUCKETS = 1000

type Tick = Extract<Command, { kind: 'tick' }>

/** What only time brings: leases that ran out, backoffs that are over, buckets nobody uses. */
export function decideTick(
  state: State,
  _command: Tick,
  _facts: Facts,
  now: Now,
  emit: Emit,
  rules: Rules,
): Replies['tick'] {
  for (const worker of state.workers.values()) {
    // Its gateway knows what silence means in its protocol.
    if (worker.facts.dialect !== undefined) continue
    const silentMs = now.lease - worker.heardAt
    for (const active of [...worker.active.values()]) {
      if (silentMs >= leaseMs(active, state, now)) {
        worker.mistrusted = true
        loseAttempt(active, `worker ${worker.facts.name} was silent for ${Math.round(silentMs / 1000)} s`, now, emit)
      } else if (active.state === 'leased' && now.lease - active.newsAt >= UNANSWERED_MS && silentMs < YOUNG_LEASE_MS) {
        loseAttempt(
          active,
          `worker ${worker.facts.name} did not take up the offer for ${UNANSWERED_MS / 1000} s`,
          now,
          emit,
        )
      }
    }
  }
  for (const seq of [...state.backoffs]) {
    const { bucket, dueAt } = waitingOf(state, seq)
    const longestMs = state.buckets.get(bucket)?.terms.retryMaxMs ?? 0
    // Further away than any backoff: the clock was set back.
    if (dueAt !== null && (dueAt <= now.wall || dueAt - now.wall > longestMs))
      emit.change({ c: 'due', job: seq, at: now.wall })
  }
  endSessions(state, now, emit, rules)
  dropIdleBuckets(state, emit)
  endCoolDowns(state, now)
  return null
}

/** Short for the young, a share of the time already run for the old: hours of work are not thrown away for a minute's silence. A task is lost when its session is. */
function leaseMs(active: ActiveJob, state: State, now: Now): number {
  const asked = state.buckets.get(active.bucket)?.terms.lostAfterMs ?? null
  if (asked !== null) return asked
  const session = active.claim.session === null ? undefined : state.active.get(active.claim.session.job)
  if (session !== undefined) return leaseMs(session, state, now)
  const ranMs = active.runningAt === null ? 0 : now.wall - active.runningAt
  return Math.min(LONGEST_LEASE_MS, Math.max(YOUNG_LEASE_MS, ranMs * OLD_LEASE_SHARE))
}

function dropIdleBuckets(state: State, emit: Emit): void {
  if (state.buckets.size <= MAX_IDLE_BUCKETS) return
  const idle = [...state.buckets.values()].filter(bucket => bucket.live === 0)
  for (const bucket of idle.slice(0, Math.max(0, idle.length - MAX_IDLE_BUCKETS)))
    emit.change({ c: 'bucketDropped', id: bucket.id })
}

function endCoolDowns(state: State, now: Now): void {
  for (const worker of state.workers.values()) {
    for (const [bucket, until] of worker.coolDown) {
      if (until > now.lease) continue
      worker.coolDown.delete(bucket)
      touchWorker(state, worker)
    }
  }
}
