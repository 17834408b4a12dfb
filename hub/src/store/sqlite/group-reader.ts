import type { GroupRow } from '@stoker/protocol'
import { parseIdEnd, SHORTEST_END } from '../id-end.ts'
import type { SyncQueries } from '../sync-queries.ts'
import type { Connection } from './connection.ts'

type GroupQueries = Pick<SyncQueries, 'groupById' | 'groupByIdEnd' | 'groups' | 'schedule'>

/** Groups are few beside jobs: plain indexes find them. */
export function createGroupReader(db: Connection): GroupQueries {
  const byId = db.prepare('SELECT * FROM jobGroup WHERE id = ?')
  const byEnd = db.prepare(
    `SELECT id FROM jobGroup WHERE substr(id, -${SHORTEST_END}) = ? AND substr(replace(id, '-', ''), -?) = ? LIMIT 2`,
  )
  const all = db.prepare('SELECT * FROM jobGroup WHERE firstSeq < ? ORDER BY firstSeq DESC LIMIT ?')
  const ofOwner = db.prepare('SELECT * FROM jobGroup WHERE owner = ? AND firstSeq < ? ORDER BY firstSeq DESC LIMIT ?')
  const schedule = db.prepare('SELECT * FROM schedule WHERE id = ?')
  return {
    groupById: id => byId.get(id) ?? null,
    groupByIdEnd: end => {
      const digits = parseIdEnd(end)
      if (digits === null) return null
      if (digits.length < SHORTEST_END) return 'many'
      const found: readonly { readonly id: string }[] = byEnd.all(digits.slice(-SHORTEST_END), digits.length, digits)
      return found.length > 1 ? 'many' : (found[0]?.id ?? null)
    },
    groups: (owner, beforeSeq, limit) => {
      const before = beforeSeq ?? Number.MAX_SAFE_INTEGER
      const found: readonly GroupRow[] =
        owner === null ? all.all(before, limit + 1) : ofOwner.all(owner, before, limit + 1)
      const rows = found.slice(0, limit)
      return { rows, next: found.length > limit ? (rows.at(-1)?.firstSeq ?? null) : null }
    },
    schedule: id => schedule.get(id) ?? null,
  }
}
