import { type JobRow, Refused } from '@stoker/protocol'
import type { Queries } from '../store/port.ts'
import type { Caller } from './auth.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const END = /^[0-9a-f]{4,32}$/

/** The job a path names by its id or the end of it; one of another owner does not exist for the caller. */
export async function findJob(queries: Queries, caller: Caller, ref: string): Promise<JobRow> {
  const id = await idOf(queries, ref)
  const row = id === null ? null : await queries.jobById(id)
  if (row === null || (caller.role !== 'admin' && row.owner !== caller.owner)) {
    throw new Refused(
      'job.not_found',
      `no job you may see has an id that is or ends with ${JSON.stringify(shown(ref))}`,
    )
  }
  return row
}

async function idOf(queries: Queries, ref: string): Promise<string | null> {
  const lower = ref.toLowerCase()
  if (UUID.test(lower)) return lower
  const digits = lower.replaceAll('-', '')
  if (!END.test(digits)) return null
  const id = await queries.jobByIdEnd(digits)
  if (id !== 'many') return id
  throw new Refused(
    'request.invalid',
    `several jobs have an id that ends with "${digits}"; give more of its last digits`,
  )
}

function shown(ref: string): string {
  return ref.length > 80 ? `${ref.slice(0, 79)}…` : ref
}
