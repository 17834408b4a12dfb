import type { JobRow } from '@stoker/protocol'
import type { JobFilter, Page } from './port.ts'

/** Jobs one page looks at: about 2 ms of reading among two million where none of them match, more on a cold disk. */
export const MOST_LOOKED_AT = 5_000

const ALL: JobFilter = { owner: null, states: null, type: null, worker: null, name: null, labels: [] }

/** The part of a filter that an index answers; the jobs it finds are looked at one by one for the rest. */
export function drivingPart({ seqs, labels, states, owner }: JobFilter): JobFilter {
  if (seqs !== undefined) return { ...ALL, seqs }
  if (labels.length > 0) return { ...ALL, labels: labels.slice(0, 1) }
  if (states !== null) return { ...ALL, states }
  return { ...ALL, owner }
}

/** The page of up to one row more than asked for; that row tells that the list goes on, else `lastLooked` does: the last job looked at, null if there was no further one. */
export function pageOf(found: readonly JobRow[], limit: number, lastLooked: () => number | null): Page {
  if (found.length <= limit) return { rows: found, next: lastLooked() }
  const rows = found.slice(0, limit)
  return { rows, next: rows.at(-1)?.seq ?? null }
}
