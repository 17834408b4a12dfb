import { taskTarget } from '@stoker/protocol'
import { countAhead } from '../../engine/look-ahead.ts'
import type { SessionState } from '../../engine/sessions.ts'
import type { State } from '../../engine/state.ts'
import type { KeyHolder } from './api-key.ts'

export type SessionStatus = 'initializing' | 'waiting' | 'working' | 'killed'

/** The live session with this id; null for one that never was or has ended. */
export function sessionById(state: State, id: string): SessionState | null {
  for (const seq of state.targets.get(targetName(id))?.sessions ?? []) return state.sessions.get(seq) ?? null
  return null
}

/** One that was asked to leave is killed, though its program may take a moment. */
export function sessionStatus(state: State, session: SessionState): SessionStatus {
  const active = state.active.get(session.seq)
  if (session.endsBy !== null || (active?.cancelBy ?? null) !== null) return 'killed'
  if (active?.state !== 'running' || session.readyAt === null) return 'initializing'
  return session.places.size > 0 ? 'working' : 'waiting'
}

/** Tasks that wait for this one session. */
export function queueSize(state: State, session: SessionState): number {
  return (state.targets.get(targetName(session.id))?.queued ?? 0) + countAhead(session)
}

/** A session of a preset takes tasks of everybody, any other those of its owner. */
export function mayUse({ owner, terms }: SessionState, holder: KeyHolder): boolean {
  return holder.isAdmin || owner === holder.owner || terms.preset !== null
}

/** A session of this preset that waits and has room; of several the one that was used last, so that others may rest. */
export function waitingSession(state: State, preset: string, holder: KeyHolder): SessionState | null {
  let best: SessionState | null = null
  for (const seq of state.targets.get(taskTarget({ session: null, preset }))?.sessions ?? []) {
    const session = state.sessions.get(seq)
    if (session === undefined || !mayUse(session, holder) || sessionStatus(state, session) !== 'waiting') continue
    if (queueSize(state, session) > session.terms.queue) continue
    if (best === null || (session.activeAt ?? 0) > (best.activeAt ?? 0)) best = session
  }
  return best
}

function targetName(id: string): string {
  return taskTarget({ session: id, preset: null })
}
