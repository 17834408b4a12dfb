import { isTerminal, type JobRow, readSpec, type SessionPhase, type SessionView, sessionEnd } from '@stoker/protocol'
import { countAhead } from '../engine/look-ahead.ts'
import { type SessionState, targetsOf } from '../engine/sessions.ts'
import type { State } from '../engine/state.ts'
import type { RouteContext } from './context.ts'
import { isoTime, isoTimeOrNull } from './iso-time.ts'

type Ports = Pick<RouteContext, 'engine' | 'queries'>

/** What is only live of a session. */
interface Look {
  readonly isReady: boolean
  readonly tasks: readonly number[]
  readonly queued: number
  readonly endsBy: string | null
  readonly readyAt: number | null
  readonly activeAt: number | null
  readonly worker: string | null
}

/** Sessions as people see them: the rows of their jobs, joined with what is only live. */
export async function viewSessions({ engine, queries }: Ports, rows: readonly JobRow[]): Promise<SessionView[]> {
  const looks = await engine.read(state => rows.map(row => lookAt(state, row)))
  const tasks = [...new Set(looks.flatMap(look => look.tasks))]
  const ids = new Map((tasks.length === 0 ? [] : await queries.jobsBySeq(tasks)).map(({ seq, id }) => [seq, id]))
  return rows.flatMap((row, index) => {
    const look = looks[index]
    return look === undefined ? [] : [view(row, look, ids)]
  })
}

function lookAt(state: State, row: JobRow): Look {
  const session = state.sessions.get(row.seq)
  const active = state.active.get(row.seq)
  const id = row.worker
  return {
    isReady: active?.state === 'running' && session !== undefined && session.readyAt !== null,
    tasks: session === undefined ? [] : inPlaces(session),
    queued: session === undefined ? 0 : queuedFor(state, session),
    endsBy: session?.endsBy ?? null,
    readyAt: session?.readyAt ?? null,
    activeAt: session?.activeAt ?? null,
    worker: id === null ? null : (state.workers.get(id)?.facts.name ?? id),
  }
}

/** What was given ahead stands behind these. */
function inPlaces({ places, terms }: SessionState): readonly number[] {
  return [...places.values()].slice(0, terms.concurrency).map(({ job }) => job)
}

function queuedFor(state: State, session: SessionState): number {
  return targetsOf(session).reduce((sum, name) => sum + (state.targets.get(name)?.queued ?? 0), countAhead(session))
}

function view(row: JobRow, look: Look, ids: ReadonlyMap<number, string>): SessionView {
  const { preset, session, retries } = readSpec(row.spec)
  const isEnded = isTerminal(row.state)
  const isPlaced = isEnded || row.state === 'active'
  return {
    id: row.id,
    name: row.name,
    state: phaseOf(isEnded, look),
    reason: isEnded ? sessionEnd(row.state, row.reason) : look.endsBy === null ? null : sessionEnd('', look.endsBy),
    owner: row.owner,
    preset,
    worker: row.worker !== null && isPlaced ? { id: row.worker, name: look.worker ?? row.worker } : null,
    gpus: row.gpus === null || !isPlaced ? [] : JSON.parse(row.gpus),
    concurrency: session?.concurrency ?? 1,
    working: look.tasks.flatMap(seq => ids.get(seq) ?? []),
    queued: look.queued,
    queue: session?.queue ?? 0,
    createdAt: isoTime(row.submittedAt),
    readyAt: isoTimeOrNull(look.readyAt),
    lastActivityAt: isoTimeOrNull(look.activeAt ?? row.runningAt),
    endedAt: isoTimeOrNull(row.endedAt),
    idleTimeoutSeconds: (session?.idleMs ?? 0) / 1000,
    maxLifetimeSeconds: (session?.lifetimeMs ?? 0) / 1000,
    restarts: retries.max,
    attempts: row.attempts,
  }
}

function phaseOf(isEnded: boolean, { isReady, tasks }: Look): SessionPhase {
  if (isEnded) return 'ended'
  if (!isReady) return 'initializing'
  return tasks.length > 0 ? 'working' : 'waiting'
}
