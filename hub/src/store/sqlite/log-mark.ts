import type { Connection } from './connection.ts'

/** The meta key under which a transaction says up to which record of the commit log it went. */
const MARK_KEY = 'commit_log'

/** The last record whose rows the database has; 0 before the first. */
export function lastRecord(db: Connection): number {
  const row: { readonly value: string } | undefined = db.prepare('SELECT value FROM meta WHERE "key" = ?').get(MARK_KEY)
  return Number(row?.value ?? 0)
}

export function markRecord(db: Connection): (record: number) => void {
  const put = db.prepare(
    'INSERT INTO meta ("key", value) VALUES (?, ?) ON CONFLICT ("key") DO UPDATE SET value = excluded.value',
  )
  return record => void put.run(MARK_KEY, String(record))
}
