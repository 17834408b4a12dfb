import { type Fence, type SessionEnd, sameFence, type Terms, taskTarget } from '@stoker/protocol'
import { UNKNOWN_MS } from './look-ahead.ts'
import { type Claim, claimKey, type State } from './state.ts'

/**
 * A session whose job has not ended. Its places belong to its newest attempt: a task has one from its placement until
 * its attempt is known to be over, lost ones included. Tasks given ahead stand behind those, in the order they came.
 */
export interface SessionState {
  readonly seq: number
  readonly id: string
  readonly owner: string
  readonly terms: NonNullable<Terms['session']>
  places: Map<string, Claim>
  /** It was asked to leave. */
  endsBy: string | null
  /** Volatile: its program said that it is ready, and when that was heard. */
  readyAt: number | null
  /** Volatile: wall time of the last task, keepalive or start. */
  activeAt: number | null
  /** Volatile: something happened since the last tick. */
  isTouched: boolean
  /** Volatile: lease time since which it waits without a task. */
  quietSince: number
  /** Volatile: its preset is another one by now. It finishes what it has, gets no more tasks of the preset, and leaves. */
  isOutdated: boolean
  /** Volatile: lease time until which it gets no task, for it declined one. */
  restsUntil: number
  /** Volatile: about how long its tasks take. */
  taskMs: number
}

/** What tasks wait for. */
export interface Target {
  readonly sessions: Set<number>
  /** Those with queued tasks. */
  readonly buckets: Set<number>
  queued: number
  /** How its session ended; null while it lives, or if nobody knows. */
  ended: SessionEnd | null
}

export function openSession(state: State, asked: Pick<SessionState, 'seq' | 'id' | 'owner' | 'terms'>): SessionState {
  const session: SessionState = {
    ...asked,
    places: new Map(),
    endsBy: null,
    readyAt: null,
    activeAt: null,
    isTouched: true,
    quietSince: Number.NaN,
    isOutdated: false,
    restsUntil: Number.NEGATIVE_INFINITY,
    taskMs: UNKNOWN_MS,
  }
  state.sessions.set(asked.seq, session)
  for (const name of targetsOf(session)) {
    targetOf(state, name).sessions.add(session.seq)
    state.orphans.delete(name)
  }
  return session
}

/** Its job has ended: tasks that wait for it alone are told in the same batch. */
export function closeSession(state: State, seq: number, end: SessionEnd): void {
  const session = state.sessions.get(seq)
  if (session === undefined) return
  state.sessions.delete(seq)
  const [own] = targetsOf(session)
  for (const name of targetsOf(session)) {
    const target = targetOf(state, name)
    target.sessions.delete(seq)
    if (name === own) {
      target.ended = end
      if (target.queued > 0) state.orphans.add(name)
    }
    dropIfUnused(state, name, target)
  }
}

/** A new attempt begins with all its places free and nothing heard of it. */
export function beginAttempt(state: State, seq: number): void {
  const session = state.sessions.get(seq)
  if (session === undefined) return
  session.places = new Map()
  session.readyAt = null
  session.taskMs = UNKNOWN_MS
}

/** The attempt is over or lost; what becomes of tasks in its places is decided before the batch ends. */
export function vacate(state: State, seq: number): void {
  const session = state.sessions.get(seq)
  if (session !== undefined) state.vacated.push(...session.places.values())
}

/** Places of an attempt before the present one are nobody's any more. */
export function takePlace(state: State, claim: Claim, sessionAttempt: number): void {
  if (claim.session === null || claim.session.attempt !== sessionAttempt) return
  state.sessions.get(claim.session.job)?.places.set(claimKey(claim), claim)
}

export function givePlace(state: State, claim: Claim, at: number): void {
  const session = claim.session === null ? undefined : state.sessions.get(claim.session.job)
  if (session?.places.delete(claimKey(claim)) !== true) return
  touchSession(session, at)
  wakeSession(state, session)
}

/** Whether the attempt in which a task has its place is the one that runs. */
export function isInPlace(state: State, { session }: Claim): boolean {
  const holder = session === null ? undefined : state.active.get(session.job)
  return session !== null && holder !== undefined && sameFence(holder.claim, session)
}

export function touchSession(session: SessionState, at: number): void {
  session.isTouched = true
  session.activeAt = Math.max(session.activeAt ?? 0, at)
}

/** Its targets may have room now. */
export function wakeSession(state: State, session: SessionState): void {
  for (const name of targetsOf(session)) if ((state.targets.get(name)?.queued ?? 0) > 0) state.dirtyTargets.add(name)
}

/** A worker may be given work again: so may the sessions on it. */
export function wakeSessionsOn(state: State, worker: string): void {
  if (state.sessions.size === 0) return
  for (const seq of state.workers.get(worker)?.active.keys() ?? []) {
    const session = state.sessions.get(seq)
    if (session !== undefined) wakeSession(state, session)
  }
}

/** As a live message tells; true if tasks may wait for the news. */
export function hearReady(state: State, fence: Fence, isReady: boolean, at: number): void {
  const session = state.sessions.get(fence.job)
  const active = state.active.get(fence.job)
  if (session === undefined || active === undefined || !sameFence(active.claim, fence)) return
  if (isReady === (session.readyAt !== null)) return
  session.readyAt = isReady ? at : null
  session.isTouched = true
}

/** Its own first. */
export function targetsOf({ id, terms }: Pick<SessionState, 'id' | 'terms'>): readonly string[] {
  const own = taskTarget({ session: id, preset: null })
  return terms.preset === null ? [own] : [own, taskTarget({ session: null, preset: terms.preset })]
}

export function targetOf(state: State, name: string): Target {
  const known = state.targets.get(name)
  if (known !== undefined) return known
  const fresh: Target = { sessions: new Set(), buckets: new Set(), queued: 0, ended: null }
  state.targets.set(name, fresh)
  return fresh
}

export function dropIfUnused(state: State, name: string, target: Target): void {
  if (target.queued > 0 || target.sessions.size > 0) return
  state.targets.delete(name)
  state.orphans.delete(name)
  state.dirtyTargets.delete(name)
}
