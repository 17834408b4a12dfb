import { randomUUID } from 'node:crypto'
import {
  Job,
  type NewSession,
  type NewTask,
  SessionEnded,
  SessionPage,
  type SessionPhase,
  SessionView,
} from '@stoker/protocol'
import type { Caller } from './caller.ts'
import { queryText } from './query.ts'

export interface SessionFilter {
  readonly state?: SessionPhase | undefined
  readonly preset?: string | undefined
  readonly owner?: string | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

export interface StartSession {
  /** Refuses a session that no known worker can run. */
  readonly failFast?: boolean | undefined
}

/** What can be asked about sessions: programs that stay alive between tasks. */
export function sessionCalls(caller: Caller) {
  const path = (id: string) => `/api/v1/sessions/${encodeURIComponent(id)}`
  const make = (to: string, body: unknown) => ({
    method: 'POST' as const,
    path: to,
    repeatable: true,
    body: JSON.stringify(body),
    headers: { 'idempotency-key': randomUUID() },
  })
  return {
    startSession: (spec: NewSession, { failFast }: StartSession = {}): Promise<SessionView> =>
      caller.json(make(`/api/v1/sessions${failFast === true ? '?failFast=true' : ''}`, spec), SessionView),
    sessions: (filter: SessionFilter = {}): Promise<SessionPage> =>
      caller.json(
        { method: 'GET', path: `/api/v1/sessions${queryText({ ...filter })}`, repeatable: true },
        SessionPage,
      ),
    session: (id: string): Promise<SessionView> =>
      caller.json({ method: 'GET', path: path(id), repeatable: true }, SessionView),
    endSession: (id: string): Promise<SessionEnded> =>
      caller.json({ method: 'DELETE', path: path(id), repeatable: false }, SessionEnded),
    keepSession: (id: string): Promise<SessionView> =>
      caller.json({ method: 'POST', path: `${path(id)}/keepalive`, repeatable: true }, SessionView),
    /** A task as a job of its own; a full session refuses with `session.full`. */
    sendTask: (id: string, task: NewTask): Promise<Job> => caller.json(make(`${path(id)}/tasks`, task), Job),
  }
}
