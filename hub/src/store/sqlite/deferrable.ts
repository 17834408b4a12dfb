import { eachQueued } from '@stoker/protocol'
import type { Commit } from '../port.ts'
import type { Connection } from './connection.ts'
import { createJournalReader } from './journal.ts'

/** Tells whether a commit can become rows at any later time, whatever else is in the database; whether its values fit their columns is known before. */
export interface DeferCheck {
  /** Only new jobs whose seqs and ids lie behind all known ones, and rows put over what is there; the journal in order. */
  isSure(commit: Commit): boolean
  /** The commit is taken. */
  took(commit: Commit): void
}

export function createDeferCheck(db: Connection): DeferCheck {
  const newest: { readonly seq: number | null; readonly id: string | null } = db
    .prepare('SELECT (SELECT max(seq) FROM job) AS seq, (SELECT max(id) FROM job) AS id')
    .get()
  let lastSeq = newest.seq ?? 0
  let lastId = newest.id ?? ''
  let lastN = createJournalReader(db).end().n

  function isSure({ journal, rows }: Commit): boolean {
    if (journal !== null && journal.n !== lastN + 1) return false
    let seq = lastSeq
    let id = lastId
    for (const write of rows) {
      if (write.op === 'insert' && write.table === 'job') {
        if (write.row.seq <= seq || write.row.id <= id) return false
        seq = write.row.seq
        id = write.row.id
      } else if (write.op !== 'put' || write.table === 'job') return false
    }
    return true
  }

  function took({ journal, rows }: Commit): void {
    lastN = journal?.n ?? lastN
    for (const write of rows) {
      if (write.op === 'queue') eachQueued(write.jobs, saw)
      else if (write.table === 'job' && (write.op === 'insert' || write.op === 'put')) saw(write.row.seq, write.row.id)
    }
  }

  function saw(seq: number, id: string): void {
    lastSeq = Math.max(lastSeq, seq)
    if (id > lastId) lastId = id
  }

  return { isSure, took }
}
