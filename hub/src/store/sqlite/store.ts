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
import { handOver } from './hand-over.ts'
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

function isSmall({ rows }: Commit): boolean {
  return rows.length <= ROWS_ON_MAIN && rows.every(write => write.op !== 'queue')
}

function isOrderedAndLarge(commit: Commit): boolean {
  return commit.journal !== null && !isSmall(commit)
}

export interface StoreFile {
  readonly file: string
  /** Another process writes to the file. */
  readonly isGuest: boolean
  readonly maxPages: number | null
}

/**
 * The store over an open, migrated connection; without a log every commit becomes rows at once.
 * open: commits and prune steps run one at a time in the lane, large commits one behind the other in the writer thread;
 * commits that were deferred become rows before any other task of the lane and before a read that could miss them. broken: after an I/O error no commit is taken any more,
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
  /** Of commits that become rows at once, and of records: one write instead of ten pages. */
  const rowPlace = new CommitPlace()
  const recordPlace = new CommitPlace()
  const deferred = commitLog && newDeferred(commitLog)
  let broken: unknown = null
  /** The part beside the commits of a fold that has not ended. */
  let folding: Promise<void> | null = null
  let closing: Promise<void> | null = null

  function write<T>(task: () => T | Promise<T>): Promise<T> {
    if (closing !== null) return Promise.reject(new Error('the store is closed'))
    return lane.run(() => {
      assertWhole()
      return task()
    })
  }

  function assertWhole(): void {
    if (broken !== null) throw new Error('the store takes no commit after an I/O error', { cause: broken })
  }

  /** The writer thread takes them one after the other, and none whose journal does not follow: the next is on its way before the last is known to be written. */
  function writeInThread(commit: Commit): Promise<void> {
    if (closing !== null) return Promise.reject(new Error('the store is closed'))
    return lane.join(async handedOver => {
      assertWhole()
      return applyInThread(commit, encode(commit), handedOver)
    })
  }

  function newDeferred(log: CommitLog): DeferredCommits {
    return new DeferredCommits({
      db,
      writer,
      log,
      file: start.file,
      replay: async part => {
        if (await threads.writer().call('replay', part)) foldBeside()
      },
      failed: error => {
        broken ??= error
      },
    })
  }

  async function append({ journal, rows }: Commit): Promise<void> {
    const commit = { journal, rows: foldJobWrites(rows) }
    try {
      await (isOrderedAndLarge(commit) ? writeInThread(commit) : write(() => apply(commit)))
    } catch (error) {
      if (isFatal(error)) broken ??= error
      throw appendFailure(error)
    }
  }

  function apply(commit: Commit): void | Promise<void> {
    const encoded = encode(commit)
    return isSmall(commit) ? applySmall(commit, encoded) : applyInThread(commit, encoded)
  }

  function applySmall(commit: Commit, encoded: EncodedCommit): void | Promise<void> {
    const startedAt = performance.now()
    const took = (where: CommitPlace) => where.took(performance.now() - startedAt)
    if (recordPlace.isMain && deferred?.add(commit, encoded)) {
      took(recordPlace)
      return
    }
    if (!rowPlace.isMain || !recordPlace.isMain)
      return applyInThread(commit, encoded).finally(() => {
        took(rowPlace)
        took(recordPlace)
      })
    const done = () => {
      took(rowPlace)
      deferred?.wrote(commit)
      if (log.isLong()) foldRest().catch(onFoldFailure)
    }
    return applyHere(encoded)?.then(done) ?? done()
  }

  function applyHere(encoded: EncodedCommit): Promise<void> | null {
    if (deferred !== null) return deferred.settleWith(encoded)
    writer.apply(encoded)
    return null
  }

  /** As text, which costs this thread a third of handing over lists. */
  async function applyInThread(commit: Commit, encoded: EncodedCommit, handedOver = () => {}): Promise<void> {
    const writer = await settledWriter()
    const written = writer.call('apply', ...handOver(encoded))
    handedOver()
    const isLogLong = await written
    deferred?.wrote(commit)
    if (isLogLong) foldBeside()
  }

  async function settledWriter(): Promise<Thread<'writer'>> {
    await deferred?.settle()
    return threads.writer()
  }

  /** Takes some 20 ms for a long log, too long for the main thread; commits wait for it, because one in between would keep the log from starting over. */
  function foldRest(): Promise<void> {
    return write(async () => (await settledWriter()).call('checkpoint'))
  }

  /** Of a busy store most is folded beside its commits, which then wait for the rest alone; a log that grows long again meanwhile makes them wait for all of it. */
  function foldBeside(): void {
    if (folding !== null) {
      const most = folding
      write(() => most).catch(onFoldFailure)
      return
    }
    folding = threads.folder().call('checkpoint')
    folding
      .then(foldRest)
      .catch(onFoldFailure)
      .finally(() => {
        folding = null
      })
  }

  function onFoldFailure(error: unknown): void {
    if (isFatal(error)) broken ??= error
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
