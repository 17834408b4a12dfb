import { parseIdEnd, SHORTEST_END } from '../id-end.ts'
import type { Connection } from './connection.ts'

/** Ids that end with some digits, among as many as were looked at. */
export interface IdEndLook {
  readonly found: readonly string[]
  /** Look on before this id; null when all were looked at. */
  readonly next: string | null
}

/** Looks through the ids before one, newest first. */
export type LookForIdEnd = (digits: string, before: string | null) => IdEndLook

/** About five milliseconds: others who ask are answered in between. */
const IDS_AT_ONCE = 50_000
const AFTER_ALL_IDS = 'g'

/**
 * An index of ends would have its place found at random for every new job, four tenths of what inserting one costs.
 * A person who types the end of an id waits instead: a tenth of a second for a million jobs.
 */
export function createIdEnds(db: Connection, idsAtOnce = IDS_AT_ONCE): LookForIdEnd {
  const ask = db.prepare(`
    SELECT min(id) AS last, count(*) AS looked,
      json_group_array(id) FILTER (WHERE substr(id, -${SHORTEST_END}) = ? AND substr(replace(id, '-', ''), -?) = ?) AS found
    FROM (SELECT id FROM job INDEXED BY job_id WHERE id < ? ORDER BY id DESC LIMIT ${idsAtOnce})`)
  return (digits, before) => {
    const row: { readonly last: string | null; readonly looked: number; readonly found: string } = ask.get(
      digits.slice(-SHORTEST_END),
      digits.length,
      digits,
      before ?? AFTER_ALL_IDS,
    )
    return { found: JSON.parse(row.found), next: row.looked < idsAtOnce ? null : row.last }
  }
}

/** The one id with that end, if the looks find no other. */
export async function findByEnd(
  end: string,
  look: (digits: string, before: string | null) => Promise<IdEndLook>,
): Promise<string | null | 'many'> {
  const digits = parseIdEnd(end)
  if (digits === null) return null
  if (digits.length < SHORTEST_END) return 'many'
  const all: string[] = []
  for (let before: string | null = null; ; ) {
    const { found, next } = await look(digits, before)
    all.push(...found)
    if (all.length > 1) return 'many'
    if (next === null) return all[0] ?? null
    before = next
  }
}
