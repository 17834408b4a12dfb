import { Refused, type SessionEnd } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import { type SessionState, targetsOf, touchSession, wakeSession } from '../sessions.ts'
import type { Now, State } from '../state.ts'
import type { Emit, Rules } from './emit.ts'

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

/** A session that runs is asked to leave; one that has not started ends at once. Asking twice is harmless. */
export function decideEndSession(
  state: State,
  { job, reason }: Of<'endSession'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['endSession'] {
  const session = liveSession(state, job)
  if (!state.active.has(job)) {
    emit.change({ c: 'ended', job, state: 'canceled', reason, at: now.wall })
    return { effect: 'ended' }
  }
  askToLeave(state, session, reason, now, emit)
  return { effect: 'stopping' }
}

/** Volatile too: whoever knows the presets says it again after a start. */
export function decideOutdateSession(
  state: State,
  { job }: Of<'outdateSession'>,
  facts: Facts,
  now: Now,
  emit: Emit,
): Replies['outdateSession'] {
  const session = liveSession(state, job)
  session.isOutdated = true
  if (state.active.has(job) && !isDone(state, session)) return { effect: 'working' }
  return decideEndSession(state, { kind: 'endSession', job, reason: 'preset_changed' }, facts, now, emit)
}

/** Volatile, as all that is known of a session's rest. */
export function decideKeepSession(
  state: State,
  { job }: Of<'keepSession'>,
  _facts: Facts,
  now: Now,
): Replies['keepSession'] {
  const session = liveSession(state, job)
  if (session.endsBy !== null) throw new Refused('session.not_found', `session ${session.id} ends: ${session.endsBy}`)
  touchSession(session, now.wall)
  return { activeAt: now.wall }
}

/** What only time brings to sessions: too long without a task, too long alive, or in the way of others. */
export function endSessions(state: State, now: Now, emit: Emit, rules: Rules): void {
  if (state.sessions.size === 0) return
  for (const session of [...state.sessions.values()]) {
    if (session.restsUntil !== Number.NEGATIVE_INFINITY && session.restsUntil <= now.lease) {
      session.restsUntil = Number.NEGATIVE_INFINITY
      wakeSession(state, session)
    }
    const reason = endReason(state, session, now)
    if (reason !== null) askToLeave(state, session, reason, now, emit)
  }
  for (const seq of rules.evictions(state, now)) {
    const session = state.sessions.get(seq)
    if (session !== undefined) askToLeave(state, session, 'evicted', now, emit)
  }
}

function endReason(state: State, session: SessionState, now: Now): SessionEnd | null {
  const active = state.active.get(session.seq)
  if (active === undefined || active.cancelBy !== null) return null
  const { idleMs, lifetimeMs } = session.terms
  if (active.runningAt !== null && now.wall - active.runningAt >= lifetimeMs) return 'max_lifetime'
  if (session.isOutdated && isDone(state, session)) return 'preset_changed'
  const isWaiting = active.state === 'running' && session.readyAt !== null && session.places.size === 0
  if (!isWaiting || session.isTouched || Number.isNaN(session.quietSince) || isAwaited(state, session)) {
    session.isTouched = false
    session.quietSince = now.lease
    return null
  }
  if (state.workers.get(active.claim.worker)?.draining === true) return 'shutdown'
  return now.lease - session.quietSince >= idleMs ? 'idle_timeout' : null
}

/** Nothing is in its places, and nothing waits for it alone. */
function isDone(state: State, session: SessionState): boolean {
  const [own = ''] = targetsOf(session)
  return session.places.size === 0 && (state.targets.get(own)?.queued ?? 0) === 0
}

function isAwaited(state: State, session: SessionState): boolean {
  return targetsOf(session).some(name => (state.targets.get(name)?.queued ?? 0) > 0)
}

function askToLeave(state: State, { seq }: SessionState, reason: SessionEnd, now: Now, emit: Emit): void {
  const active = state.active.get(seq)
  if (active !== undefined && active.cancelBy === null)
    emit.change({ c: 'stopRequested', job: seq, by: reason, at: now.wall, endsSession: true })
}

function liveSession(state: State, job: number): SessionState {
  const session = state.sessions.get(job)
  if (session === undefined) throw new Refused('session.not_found', `job ${job} is no session, or has ended`)
  return session
}
