import type { Commit, Store } from '../port.ts'
import { backupTo } from './backup.ts'
import { createLogGauge } from './checkpoint.ts'
import { CommitPlace } from './commit-place.ts'
import { type Connection, closeLast } from './connection.ts'
import { createEncoder, type EncodedCommit } from './encode.ts'
import { appendFailure, isFatal } from './failure.ts'
import { unreadable } from './identity.ts'
import { createJournalReader } from './journal.ts'
import { createLane } from './lane.ts'
import { createQueries } from './queries.ts'
import { createReader } from './reader.ts'
import { recover } from './recover.ts'
import { createThreads } from './threads.ts'
import { createWriter } from './writer.ts'

/** A commit of at most this many row writes is no slower on the main thread and stalls it about a millisecond; handing a larger one to the writer thread stalls it one to two milliseconds per thousand rows. */
const ROWS_ON_MAIN = 64

export interface StoreFile {
  readonly file: string
  readonly maxPages: number | null
}

/**
 * The store over an open, migrated connection.
 * open: commits and prune steps run one at a time in the lane. broken: after an I/O error no commit is taken any more,
 * because a later sync could claim what the failed one lost. closed: threads ended, connection closed.
 */
export function createSqliteStore(db: Connection, start: StoreFile): Store {
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
  let broken: unknown = null
  let closing: Promise<void> | null = null

  function write<T>(task: () => T | Promise<T>): Promise<T> {
    if (closing !== null) return Promise.reject(new Error('the store is closed'))
    return lane.run(() => {
      if (broken !== null) throw new Error('the store takes no commit after an I/O error', { cause: broken })
      return task()
    })
  }

  async function append(commit: Commit): Promise<void> {
    const isSmall = commit.rows.length <= ROWS_ON_MAIN
    try {
      const isLogLong = await write(() => (isSmall ? applySmall(encode(commit)) : applyInThread(encode(commit))))
      if (isLogLong) foldLog()
    } catch (error) {
      if (isFatal(error)) broken ??= error
      throw appendFailure(error)
    }
  }

  function applySmall(commit: EncodedCommit): boolean | Promise<boolean> {
    const startedAt = performance.now()
    const took = () => place.took(performance.now() - startedAt)
    if (!place.isMain) return applyInThread(commit).finally(took)
    writer.apply(commit)
    took()
    return log.isLong()
  }

  /** The thread folds the log itself. */
  async function applyInThread(commit: EncodedCommit): Promise<boolean> {
    await threads.writer().call('apply', commit)
    return false
  }

  /** Folding the log takes some 20 ms, too long for the main thread; commits wait for it, because one in between would keep the log from starting over. */
  function foldLog(): void {
    write(() => threads.writer().call('checkpoint')).catch((error: unknown) => {
      if (isFatal(error)) broken ??= error
    })
  }

  async function untilDone(step: () => Promise<boolean>): Promise<void> {
    while (await write(step)) {}
  }

  async function close(): Promise<void> {
    await lane.idle()
    await threads.close()
    if (broken === null) closeLast(db)
    else db.close()
  }

  return {
    queries: createQueries(reader, threads.reader),
    append,
    journalEnd: () => lane.run(journalEnd),
    recover: visit =>
      lane.run(() => {
        try {
          return recover(db, visit)
        } catch (error) {
          throw unreadable(start.file, error)
        }
      }),
    idempotency: async (owner, key) => keyed.get(owner, key) ?? null,
    jobRefs: async ids => ids.map(id => named.get(id)).filter(row => row !== undefined),
    prune: async ({ keysBefore, journalBefore }) => {
      await untilDone(() => threads.writer().call('forgetKeys', keysBefore))
      await untilDone(() => threads.writer().call('forgetJournal', journalBefore))
      await untilDone(() => threads.writer().call('givePagesBack'))
    },
    backup: toFile => backupTo(toFile, file => threads.withCopier(copier => copier.call('copyTo', file))),
    close: () => {
      closing ??= close()
      return closing
    },
  }
}
