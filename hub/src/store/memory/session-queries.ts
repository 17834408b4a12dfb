import type { SyncQueries } from '../sync-queries.ts'
import type { MemoryRows } from './tables.ts'

export function createMemorySessionQueries(rows: MemoryRows): Pick<SyncQueries, 'sessions'> {
  return {
    sessions: ({ owner, preset, ended }, beforeJob, limit) => {
      const found = rows.session
        .ordered()
        .filter(
          session =>
            session.job < (beforeJob ?? Number.MAX_SAFE_INTEGER) &&
            (owner === null || session.owner === owner) &&
            (preset === null || session.preset === preset) &&
            (ended === null || (session.endedAt !== null) === ended),
        )
        .sort((a, b) => b.job - a.job)
      const page = found.slice(0, limit)
      return { rows: page, next: found.length > limit ? (page.at(-1)?.job ?? null) : null }
    },
  }
}
