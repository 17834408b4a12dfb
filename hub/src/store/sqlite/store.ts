import type { Commit, Store } from '../port.ts'
import { backupTo } from './backup.ts'
import { createLogGauge } from './checkpoint.ts'
import { type CommitLog, commitLogBeside, readCommitLog, removeCommitLog } from './commit-log.ts'
import { CommitPlace } from './commit-place.ts'
import { type Connection, closeLast } from './connection.ts'
import { DeferredCommits } from './deferred-commits.ts'
import { createEncoder, type EncodedCommit } from './encode.ts'
import { appendFailure, isFatal } from './failure.ts'
import { foldJobWrites } from './fold-job-writes.ts'
import { unreadable } from './identity.ts'
import { createJournalReader } from './journal.ts'
import { createLane } from './lane.ts'
import { createQueries } from './queries.ts'
import { createReader } from './reader.ts'
import { recover } from './recover.ts'
import { replayInto } from './replay-all.ts'
import type { Thread } from './thread.ts'
import { createThreads } from './threads.ts'
import { createWriter } from './writer.ts'

/** A commit of at most this many row writes is no slower on the main thread and stalls it about a millisecond; handing a larger one to the writer thread stalls it one to two milliseconds per thousand rows. */
const ROWS_ON_MAIN = 64

export interface StoreFile {
  readonly file: string
  /** Another process writes to the file. */
  readonly isGuest: boolean
  readonly maxPages: number | null
}

/**
 * The store over an open, migrated connection; without a log every commit becomes rows at once.
 * open: commits and prune steps run one at a time in the lane; commits that were deferred become rows before any other
 * task of the lane and before a read that could miss them. broken: after an I/O error no commit is taken any more,
 * because a later sync could claim what the failed one lost. closed: threads ended, connection closed.
 */
export function createSqliteStore(db: Connection, start: StoreFile, commitLog: CommitLog | null): Store {
  const lane = createLane()
  const threads = createThreads(start)
  const encode = createEncoder(db)
  const writer = createWriter(db)
  const reader = createReader(db)
  const journalEnd = createJournalReader(db).end
  const keyed = db.prepare('SELECT * FROM idempotency WHERE owner = ? AND "key" = ?')
  const named = db.prepare('SELECT id, seq, owner, state FROM job WHERE id = ?')
  const log = createLogGauge(db)
  const place = new CommitPlace()
  const deferred = commitLog && newDeferred(commitLog)
  let broken: unknown = null
  let closing: Promise<void> | null = null

  function write<T>(task: () => T | Promise<T>): Promise<T> {
    if (closing !== null) return Promise.reject(new Error('the store is closed'))
    return lane.run(() => {
      if (broken !== null) throw new Error('the store takes no commit after an I/O error', { cause: broken })
      return task()
    })
  }

  function newDeferred(log: CommitLog): DeferredCommits {
    return new DeferredCommits({
      db,
      writer,
      log,
      file: start.file,
      replay: part => threads.writer().call('replay', part),
      failed: error => {
        broken ??= error
      },
    })
  }

  async function append({ journal, rows }: Commit): Promise<void> {
    const commit = { journal, rows: foldJobWrites(rows) }
    try {
      const isLogLong = await write(() => {
        const encoded = encode(commit)
        return commit.rows.length <= ROWS_ON_MAIN ? applySmall(commit, encoded) : applyInThread(commit, encoded)
      })
      if (isLogLong) foldLog()
    } catch (error) {
      if (isFatal(error)) broken ??= error
      throw appendFailure(error)
    }
  }

  function applySmall(commit: Commit, encoded: EncodedCommit): boolean | Promise<boolean> {
    const startedAt = performance.now()
    const took = () => place.took(performance.now() - startedAt)
    if (!place.isMain) return applyInThread(commit, encoded).finally(took)
    if (deferred?.add(commit, encoded)) {
      took()
      return false
    }
    const done = () => {
      took()
      deferred?.wrote(commit)
      return log.isLong()
    }
    return applyHere(encoded)?.then(done) ?? done()
  }

  function applyHere(encoded: EncodedCommit): Promise<void> | null {
    if (deferred !== null) return deferred.settleWith(encoded)
    writer.apply(encoded)
    return null
  }

  /** As text, which costs this thread a third of handing over lists. The other one folds the log itself. */
  async function applyInThread(commit: Commit, encoded: EncodedCommit): Promise<boolean> {
    await (await settledWriter()).call('apply', JSON.stringify(encoded))
    deferred?.wrote(commit)
    return false
  }

  async function settledWriter(): Promise<Thread<'writer'>> {
    await deferred?.settle()
    return threads.writer()
  }

  /** Folding the log takes some 20 ms, too long for the main thread; commits wait for it, because one in between would keep the log from starting over. */
  function foldLog(): void {
    write(async () => (await settledWriter()).call('checkpoint')).catch((error: unknown) => {
      if (isFatal(error)) broken ??= error
    })
  }

  async function untilDone(step: () => Promise<boolean>): Promise<void> {
    while (await write(step)) {}
  }

  /** A guest's copy gets what the owner deferred: the log is read first, so that together they lack nothing. */
  async function copyTo(file: string): Promise<void> {
    const records = start.isGuest ? readCommitLog(commitLogBeside(start.file), null) : []
    await deferred?.settle()
    await threads.withCopier(copier => copier.call('copyTo', file))
    if (records.length > 0) replayInto(file, records)
  }

  async function close(): Promise<void> {
    await lane.idle()
    if (broken === null) await deferred?.settle()
    await threads.close()
    commitLog?.close()
    if (broken !== null) return db.close()
    closeLast(db)
    if (commitLog !== null) removeCommitLog(commitLogBeside(start.file))
  }

  return {
    queries: createQueries(reader, threads.reader, deferred),
    append,
    journalEnd: () =>
      lane.run(async () => {
        await deferred?.settle()
        return journalEnd()
      }),
    recover: visit =>
      lane.run(async () => {
        await deferred?.settle()
        try {
          return recover(db, visit)
        } catch (error) {
          throw unreadable(start.file, error)
        }
      }),
    idempotency: async (owner, key) => deferred?.key(owner, key) ?? keyed.get(owner, key) ?? null,
    jobRefs: async ids => {
      await deferred?.settle()
      return ids.map(id => named.get(id)).filter(row => row !== undefined)
    },
    prune: async ({ keysBefore, journalBefore }) => {
      await untilDone(async () => (await settledWriter()).call('forgetKeys', keysBefore))
      await untilDone(async () => (await settledWriter()).call('forgetJournal', journalBefore))
      await untilDone(async () => (await settledWriter()).call('givePagesBack'))
    },
    backup: toFile => backupTo(toFile, copyTo),
    close: () => {
      closing ??= close()
      return closing
    },
  }
}
