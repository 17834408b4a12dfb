import { type Connection, readPragma } from './connection.ts'
import { BOUNDARY_KEY } from './journal.ts'
import { inTransaction } from './transaction.ts'

/** Rows forgotten in one transaction: a few milliseconds, so that commits wait no longer behind it. */
const STEP_ROWS = 1_000

/** Pages given back to the file system in one step. */
const STEP_PAGES = 500

/** Free pages (4 MiB) kept for the next commits: giving back what is needed again a minute later only wears the disk. */
const SPARE_PAGES = 1_024

/** The steps of pruning, each short; each says whether another one has work. */
export interface Pruner {
  forgetKeys(before: number): boolean
  forgetJournal(before: number): boolean
  givePagesBack(): boolean
}

export function createPruner(db: Connection): Pruner {
  const dropKeys = db.prepare(`DELETE FROM idempotency WHERE (owner, "key") IN
    (SELECT owner, "key" FROM idempotency INDEXED BY idempotency_at WHERE at < ? ORDER BY at LIMIT ${STEP_ROWS})`)
  const oldest = db.prepare(`SELECT n, at, hash FROM journal ORDER BY n LIMIT ${STEP_ROWS}`)
  const dropJournal = db.prepare('DELETE FROM journal WHERE n <= ?')
  const keep = db.prepare(
    'INSERT INTO meta ("key", value) VALUES (?, ?) ON CONFLICT ("key") DO UPDATE SET value = excluded.value',
  )

  /** Only a prefix is forgotten: a row written while the clock stood too early is kept with its neighbours. */
  function forgetJournal(before: number): boolean {
    const rows: readonly { readonly n: number; readonly at: number; readonly hash: string }[] = oldest.all()
    const kept = rows.findIndex(row => row.at >= before)
    const last = (kept === -1 ? rows : rows.slice(0, kept)).at(-1)
    if (last === undefined) return false
    inTransaction(db, () => {
      dropJournal.run(last.n)
      keep.run(BOUNDARY_KEY, JSON.stringify({ n: last.n, hash: last.hash }))
    })
    return kept === -1 && rows.length === STEP_ROWS
  }

  return {
    forgetKeys: before => Number(dropKeys.run(before).changes) === STEP_ROWS,
    forgetJournal,
    givePagesBack: () => {
      const spare = readPragma(db, 'freelist_count') - SPARE_PAGES
      if (spare <= 0) return false
      db.exec(`PRAGMA incremental_vacuum(${Math.min(spare, STEP_PAGES)})`)
      return spare > STEP_PAGES
    },
  }
}
