import { DiskFull } from '../port.ts'

/** Primary result codes of SQLite. */
export const SQLITE = { busy: 5, ioError: 10, corrupt: 11, full: 13, notADatabase: 26 } as const

/** SQLite's own fixed words for them: errors of reads of many rows carry no code, only these. */
const WORDS: Readonly<Record<string, number>> = {
  'database is locked': SQLITE.busy,
  'disk I/O error': SQLITE.ioError,
  'database disk image is malformed': SQLITE.corrupt,
  'database or disk is full': SQLITE.full,
  'file is not a database': SQLITE.notADatabase,
}

/** The primary result code of an error SQLite raised, else null. */
export function sqliteCode(error: unknown): number | null {
  if (!(error instanceof Error)) return null
  if ('sqliteCode' in error && typeof error.sqliteCode === 'number') return error.sqliteCode & 0xff
  return WORDS[error.message] ?? null
}

/** The commit log could not be written, or it alone has commits that were acknowledged: the process must end, the next start reads it. */
export class LogOnly extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause })
    this.name = 'LogOnly'
  }
}

/** After these nobody knows what is on the disk, and a later sync could claim what this one lost. */
export function isFatal(error: unknown): boolean {
  if (error instanceof LogOnly) return true
  const code = sqliteCode(error)
  return code === SQLITE.ioError || code === SQLITE.corrupt || code === SQLITE.notADatabase
}

/** An append's failure as the port promises it. */
export function appendFailure(error: unknown): Error {
  if (sqliteCode(error) === SQLITE.full) return new DiskFull(error)
  const message = error instanceof Error ? error.message : String(error)
  return new Error(`the commit failed: ${message}`, { cause: error })
}
