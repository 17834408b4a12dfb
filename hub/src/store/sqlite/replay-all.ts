import { commitLogBeside, type LogRecord, readCommitLog } from './commit-log.ts'
import { type Connection, openConnection } from './connection.ts'
import { createReplay } from './replay.ts'
import { createWriter } from './writer.ts'

/** Makes rows of what the last owner of the database deferred and did not come to. */
export function replayAll(db: Connection, file: string): void {
  const records = readCommitLog(commitLogBeside(file), null)
  if (records.length > 0) createReplay(db, createWriter(db))(records)
}

/** The same for a copy of a database. */
export function replayInto(file: string, records: readonly LogRecord[]): void {
  const db = openConnection(file, { readOnly: false, checkpointPages: 0, maxPages: null })
  try {
    createReplay(db, createWriter(db))(records)
  } finally {
    db.close()
  }
}
