import { type GroupRow, Refused } from '@stoker/protocol'
import type { Queries } from '../store/port.ts'
import type { Caller } from './auth.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The group a path names by its id or the end of it; one of another owner does not exist for the caller. */
export async function findGroup(queries: Queries, caller: Caller, ref: string): Promise<GroupRow> {
  const lower = ref.toLowerCase()
  const id = UUID.test(lower) ? lower : await queries.groupByIdEnd(lower)
  if (id === 'many')
    throw new Refused('request.invalid', 'several groups have an id that ends so; give more of its last digits')
  const row = id === null ? null : await queries.groupById(id)
  if (row !== null && (caller.role === 'admin' || row.owner === caller.owner)) return row
  const shown = JSON.stringify(ref.slice(0, 80))
  throw new Refused('group.not_found', `no group you may see has an id that is or ends with ${shown}`)
}

/** The members of a group as a filter of jobs. */
export function membersOf({ firstSeq, size }: GroupRow): { readonly from: number; readonly to: number } {
  return { from: firstSeq, to: firstSeq + size }
}
