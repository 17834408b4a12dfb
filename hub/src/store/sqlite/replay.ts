import type { LogRecord } from './commit-log.ts'
import type { Connection } from './connection.ts'
import { lastRecord, markRecord } from './log-mark.ts'
import { createRecordReader } from './log-record.ts'
import { inTransaction } from './transaction.ts'
import type { Writer } from './writer.ts'

/** Makes rows of the records the database does not have yet, all or nothing. */
export type Replay = (records: readonly LogRecord[]) => void

export function createReplay(db: Connection, writer: Writer): Replay {
  const read = createRecordReader(db)
  const mark = markRecord(db)
  return records => {
    const known = lastRecord(db)
    const missing = records.filter(({ number }) => number > known)
    if (missing.length === 0) return
    if (missing.some(({ number }, index) => number !== known + 1 + index)) throw hole(known, missing)
    inTransaction(db, () => {
      for (const { text } of missing) writer.write(read(text))
      mark(known + missing.length)
    })
  }
}

function hole(known: number, missing: readonly LogRecord[]): Error {
  const numbers = missing.map(({ number }) => number).join(', ')
  return new Error(`the database has the commits up to record ${known}, its log goes on with ${numbers}`)
}
