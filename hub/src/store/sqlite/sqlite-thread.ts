import { parentPort, workerData } from 'node:worker_threads'
import { BACKSTOP_PAGES, createLogGauge } from './checkpoint.ts'
import { commitLogBeside, readCommitLog } from './commit-log.ts'
import { type Connection, openConnection } from './connection.ts'
import { sqliteCode } from './failure.ts'
import { takeOver } from './hand-over.ts'
import { createPruner } from './prune.ts'
import { createReader } from './reader.ts'
import { createReplay } from './replay.ts'
import type { ThreadCalls, ThreadReply, ThreadRequest, ThreadRole, ThreadStart } from './thread-calls.ts'
import { createWriter } from './writer.ts'

const ROLES: { readonly [R in ThreadRole]: (db: Connection, file: string) => ThreadCalls[R] } = {
  reader: createReader,
  writer: (db, file) => {
    const writer = createWriter(db)
    const replay = createReplay(db, writer)
    const log = createLogGauge(db)
    return {
      ...createPruner(db),
      apply: (commit, body) => {
        writer.apply(takeOver(commit, body))
        return log.isLong()
      },
      replay: part => {
        replay(readCommitLog(commitLogBeside(file), part))
        return log.isLong()
      },
      ...createFolder(db),
    }
  },
  folder: createFolder,
  copier: db => ({ copyTo: file => void db.prepare('VACUUM INTO ?').run(file) }),
}

/** Folds as much of the write-ahead log as is there; commits of others go on meanwhile. */
function createFolder(db: Connection): ThreadCalls['folder'] {
  return { checkpoint: () => db.exec('PRAGMA wal_checkpoint(PASSIVE)') }
}

serve(workerData as ThreadStart)

/** Answers the calls of its role in the order they arrive, until asked to end. */
function serve({ role, file, maxPages }: ThreadStart): void {
  const readOnly = role !== 'writer' && role !== 'folder'
  const db = openConnection(file, { readOnly, checkpointPages: BACKSTOP_PAGES, maxPages })
  const calls = new Map<string, (...args: readonly unknown[]) => unknown>(Object.entries(ROLES[role](db, file)))
  parentPort?.on('message', ({ id, call, args }: ThreadRequest) => {
    if (call === null) {
      db.close()
      parentPort?.close()
      return
    }
    parentPort?.postMessage(answer(id, () => calls.get(call)?.(...args)))
  })
}

function answer(id: number, work: () => unknown): ThreadReply {
  try {
    return { id, value: work() }
  } catch (error) {
    return { id, error, sqliteCode: sqliteCode(error) }
  }
}
