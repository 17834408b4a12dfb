import { hasIdEnd, parseIdEnd, SHORTEST_END } from '../id-end.ts'
import type { SyncQueries } from '../sync-queries.ts'
import type { MemoryRows } from './tables.ts'

type GroupQueries = Pick<SyncQueries, 'groupById' | 'groupByIdEnd' | 'groups' | 'schedule'>

export function createMemoryGroupQueries(rows: MemoryRows): GroupQueries {
  return {
    groupById: id => rows.jobGroup.get(id) ?? null,
    groupByIdEnd: end => {
      const digits = parseIdEnd(end)
      if (digits === null) return null
      if (digits.length < SHORTEST_END) return 'many'
      const found = rows.jobGroup.ordered().filter(group => hasIdEnd(group.id, digits))
      return found.length > 1 ? 'many' : (found[0]?.id ?? null)
    },
    groups: (owner, beforeSeq, limit) => {
      const found = rows.jobGroup
        .ordered()
        .filter(group => (owner === null || group.owner === owner) && group.firstSeq < (beforeSeq ?? Number.MAX_VALUE))
        .sort((a, b) => b.firstSeq - a.firstSeq)
      const page = found.slice(0, limit)
      return { rows: page, next: found.length > limit ? (page.at(-1)?.firstSeq ?? null) : null }
    },
    schedule: id => rows.schedule.get(id) ?? null,
  }
}
