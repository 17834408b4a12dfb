import { NO_JOURNAL } from '../journal-order.ts'
import type { JournalEnd, JournalRow } from '../port.ts'
import type { Connection } from './connection.ts'

/** The meta key under which pruning keeps the last forgotten journal row. */
export const BOUNDARY_KEY = 'journal_floor'

export interface JournalReader {
  end(): JournalEnd
  floor(): JournalEnd | null
  boundary(): JournalEnd
  after(n: number, limit: number): readonly JournalRow[]
}

export function createJournalReader(db: Connection): JournalReader {
  const last = db.prepare('SELECT n, hash FROM journal ORDER BY n DESC LIMIT 1')
  const first = db.prepare('SELECT n, hash FROM journal ORDER BY n LIMIT 1')
  const kept = db.prepare('SELECT value FROM meta WHERE "key" = ?')
  const following = db.prepare('SELECT n, at, hash, body FROM journal WHERE n > ? ORDER BY n LIMIT ?')

  function boundary(): JournalEnd {
    const row: { readonly value: string } | undefined = kept.get(BOUNDARY_KEY)
    return row === undefined ? NO_JOURNAL : JSON.parse(row.value)
  }

  return {
    end: () => last.get() ?? boundary(),
    floor: () => first.get() ?? null,
    boundary,
    after: (n, limit) => following.all(n, limit),
  }
}
