import { type JobRow, Refused, readSpec, taskTarget } from '@stoker/protocol'
import type { State } from '../engine/state.ts'
import type { Queries } from '../store/port.ts'
import type { Caller } from './auth.ts'
import { findJob } from './job-ref.ts'

/** The job of the session a path names by its id or the end of it; one of another owner does not exist for the caller. */
export async function findSession(queries: Queries, caller: Caller, ref: string): Promise<JobRow> {
  const row = await findJob(queries, caller, ref).catch((error: unknown) => {
    if (error instanceof Refused && error.code === 'job.not_found')
      throw new Refused('session.not_found', noneText(ref))
    throw error
  })
  if (readSpec(row.spec).session === null)
    throw new Refused('session.not_found', `${row.id} is a job of type ${row.type}, and no session`)
  return row
}

/** The number of a live session the caller may use, by its whole id: found without the store, whose newest rows may still be made. */
export function liveSession(state: State, { owner, role }: Caller, id: string): number | null {
  for (const seq of state.targets.get(taskTarget({ session: id, preset: null }))?.sessions ?? []) {
    const session = state.sessions.get(seq)
    if (session !== undefined && (role === 'admin' || session.owner === owner)) return seq
  }
  return null
}

function noneText(ref: string): string {
  const shown = ref.length > 80 ? `${ref.slice(0, 79)}…` : ref
  return `no session you may see has an id that is or ends with ${JSON.stringify(shown)}`
}
