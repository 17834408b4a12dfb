import { parentPort, workerData } from 'node:worker_threads'
import { CHECKPOINT_PAGES } from './checkpoint.ts'
import { commitLogBeside, readCommitLog } from './commit-log.ts'
import { type Connection, openConnection } from './connection.ts'
import { sqliteCode } from './failure.ts'
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
    return {
      ...createPruner(db),
      apply: commit => writer.apply(JSON.parse(commit)),
      replay: part => replay(readCommitLog(commitLogBeside(file), part)),
      checkpoint: () => db.exec('PRAGMA wal_checkpoint(PASSIVE)'),
    }
  },
  copier: db => ({ copyTo: file => void db.prepare('VACUUM INTO ?').run(file) }),
}

serve(workerData as ThreadStart)

/** Answers the calls of its role in the order they arrive, until asked to end. */
function serve({ role, file, maxPages }: ThreadStart): void {
  const db = openConnection(file, { readOnly: role !== 'writer', checkpointPages: CHECKPOINT_PAGES, maxPages })
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
