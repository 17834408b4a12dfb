import { Refused, taskTarget } from '@stoker/protocol'
import type { NewJob } from '../commands.ts'
import { countAhead } from '../look-ahead.ts'
import type { SessionState } from '../sessions.ts'
import type { State } from '../state.ts'

/** Each task names a session that can take it some time, and finds room in its queue. */
export function refuseTasks(state: State, owner: string, jobs: readonly NewJob[], isAdmin: boolean): void {
  let asked: Map<string, number> | null = null
  for (const job of jobs) {
    const { task } = job.spec
    if (task === null) continue
    asked ??= new Map()
    const name = taskTarget(task)
    const count = (asked.get(name) ?? 0) + 1
    asked.set(name, count)
    if (task.session !== null) refuseUnknownSession(state, name, task.session, owner, isAdmin)
    else refuseUnknownPreset(state, name, task.preset ?? '', job)
    refuseFull(state, name, count, job)
  }
}

function refuseUnknownSession(state: State, name: string, id: string, owner: string, isAdmin: boolean): void {
  const session = sessionsFor(state, name)[0]
  if (session === undefined || (session.owner !== owner && !isAdmin))
    throw new Refused('session.not_found', `no session ${id} of ${owner} lives here`)
  const ends = session.endsBy ?? state.active.get(session.seq)?.cancelBy ?? null
  if (ends !== null) throw new Refused('session.not_found', `session ${id} ends: ${ends}`)
}

function refuseUnknownPreset(state: State, name: string, preset: string, { presetQueue }: NewJob): void {
  if (presetQueue === undefined && sessionsFor(state, name).length === 0)
    throw new Refused('preset.not_found', `no preset ${preset} is defined, and no session was made from it`)
}

/** What runs and what waits together may not be more than there are places and room to wait. */
function refuseFull(state: State, name: string, more: number, { presetQueue = 0 }: NewJob): void {
  const target = state.targets.get(name)
  const sessions = sessionsFor(state, name)
  let [queued, taken, room] = [target?.queued ?? 0, 0, 0]
  for (const session of sessions) {
    const ahead = countAhead(session)
    queued += ahead
    taken += session.places.size - ahead
    room += session.terms.concurrency + session.terms.queue
  }
  const most = Math.max(room, presetQueue)
  if (taken + queued + more <= most) return
  const word = name.startsWith('session:') ? 'the session has' : `${sessions.length} sessions have`
  throw new Refused(
    'session.full',
    `${word} ${taken} tasks in places and ${queued} in the queue; room is for ${most}, and ${more} more came`,
  )
}

function sessionsFor(state: State, name: string): readonly SessionState[] {
  return [...(state.targets.get(name)?.sessions ?? [])].flatMap(seq => state.sessions.get(seq) ?? [])
}
