import type { SessionRow } from '@stoker/protocol'
import type { SessionFilter } from '../port.ts'
import type { Cell } from '../row-keys.ts'
import type { SyncQueries } from '../sync-queries.ts'
import type { Connection, Statement } from './connection.ts'

/** Sessions are few beside jobs: plain indexes find them. */
export function createSessionReader(db: Connection): Pick<SyncQueries, 'sessions'> {
  const prepared = new Map<string, Statement>()
  const statement = (text: string): Statement => {
    const made = prepared.get(text) ?? db.prepare(text)
    prepared.set(text, made)
    return made
  }
  return {
    sessions: (filter, beforeJob, limit) => {
      const { text, values } = askFor(filter)
      const before = beforeJob ?? Number.MAX_SAFE_INTEGER
      const found: readonly SessionRow[] = statement(text).all(...values, before, limit + 1)
      const rows = found.slice(0, limit)
      return { rows, next: found.length > limit ? (rows.at(-1)?.job ?? null) : null }
    },
  }
}

function askFor({ owner, preset, ended }: SessionFilter): { readonly text: string; readonly values: readonly Cell[] } {
  const parts = [
    ...(owner === null ? [] : ['owner = ?']),
    ...(preset === null ? [] : ['preset = ?']),
    ...(ended === null ? [] : [`endedAt IS ${ended ? 'NOT ' : ''}NULL`]),
    'job < ?',
  ]
  const values = [owner, preset].filter(value => value !== null)
  return { text: `SELECT * FROM session WHERE ${parts.join(' AND ')} ORDER BY job DESC LIMIT ?`, values }
}
