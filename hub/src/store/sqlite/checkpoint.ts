import type { Connection } from './connection.ts'

/** The log is folded into the database at about 14 MiB, rarely enough that a page changed often is copied once; when it grows by as much again meanwhile, commits wait. */
const CHECKPOINT_PAGES = 3_500

/** Where a commit folds the log itself (128 MiB), should nobody come to it. */
export const BACKSTOP_PAGES = 32_000

/** Watches how long the log becomes by the commits of a connection. */
export interface LogGauge {
  /** True each time the log has grown by so much that folding it is worth the while. */
  isLong(): boolean
}

export function createLogGauge(db: Connection): LogGauge {
  const measure = db.prepare('PRAGMA wal_checkpoint(NOOP)')
  measure.setReturnArrays(true)
  /** The length at the last yes: a reader may keep the log from being folded for a while. */
  let asked = 0

  function isLong(): boolean {
    const [, pages, folded]: readonly [number, number, number] = measure.get()
    if (pages < asked) asked = 0
    if (pages - Math.max(folded, asked) < CHECKPOINT_PAGES) return false
    asked = pages
    return true
  }

  return { isLong }
}
