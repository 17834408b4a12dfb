import { statfsSync } from 'node:fs'
import type { Fence, IdempotencyRow } from '@stoker/protocol'
import type { Commit } from '../port.ts'
import type { CommitLog, LogPart } from './commit-log.ts'
import type { Connection } from './connection.ts'
import { createDeferCheck, type DeferCheck } from './deferrable.ts'
import type { EncodedCommit } from './encode.ts'
import { LogOnly } from './failure.ts'
import { lastRecord, markRecord } from './log-mark.ts'
import { writeRecord } from './log-record.ts'
import { inTransaction } from './transaction.ts'
import { WaitingCommits, type WaitingJob } from './waiting-commits.ts'
import type { Writer } from './writer.ts'

/** How long commits may stand in the log alone, and how many of them: a thread makes rows of so many in some milliseconds. */
const DEFER_MS = 20
const MOST_COMMITS = 256

/** So many are made rows right here, in half a millisecond: less work than asking a thread, which a quiet hub does not even have. */
const FEW_ROWS = 32

/** With less room every commit becomes rows at once: what is acknowledged must never wait for room. */
const ROOM_BYTES = 512 * 2 ** 20
/** How long the room that was there is believed: far less than it takes to fill it. */
const ROOM_MS = 100

export interface Deferring {
  readonly db: Connection
  readonly writer: Writer
  readonly log: CommitLog
  /** On the disk whose room counts. */
  readonly file: string
  /** Makes rows of a part of the log on another connection, in the order of the calls. */
  readonly replay: (part: LogPart) => Promise<void>
  /** The log alone has commits that were acknowledged: no more may be taken. */
  readonly failed: (error: unknown) => void
}

/**
 * Commits that are durable by their records in the log and become rows later, many at a time.
 * waiting: records in the half that is written; a timer runs while there are any. replaying: the other half on its way.
 */
export class DeferredCommits {
  readonly #ports: Deferring
  readonly #check: DeferCheck
  readonly #mark: (record: number) => void
  #number: number
  #waiting = new WaitingCommits()
  #replaying: { readonly commits: WaitingCommits; readonly done: Promise<void> } | null = null
  #timer: NodeJS.Timeout | null = null
  #roomUntil = 0

  constructor(ports: Deferring) {
    this.#ports = ports
    this.#check = createDeferCheck(ports.db)
    this.#mark = markRecord(ports.db)
    this.#number = lastRecord(ports.db)
  }

  /** False when the commit must become rows at once: nothing was written. */
  add(commit: Commit, encoded: EncodedCommit): boolean {
    const { count } = this.#waiting
    if (count >= MOST_COMMITS || !encoded.isTyped || !this.#check.isSure(commit)) return false
    if (count === 0 && !this.#hasRoom()) return false
    if (!this.#record(encoded)) return false
    this.#waiting.add(commit, encoded)
    this.#check.took(commit)
    this.#timer ??= setTimeout(() => this.#inTime(), DEFER_MS).unref()
    return true
  }

  /** A commit that became rows without waiting. */
  wrote(commit: Commit): void {
    this.#check.took(commit)
  }

  /** Null when all commits are rows. */
  settle(): Promise<void> | null {
    if (this.#replaying !== null) return this.#replaying.done.then(() => this.settle() ?? undefined)
    if (this.#waiting.rows > FEW_ROWS) return this.#replay()
    if (this.#waiting.count > 0) this.#write(null)
    return null
  }

  /** Makes rows of all that wait and of this commit, in one transaction if that can be done at once. */
  settleWith(encoded: EncodedCommit): Promise<void> | null {
    if (this.#replaying !== null || this.#waiting.rows > FEW_ROWS)
      return (this.settle() ?? Promise.resolve()).then(() => this.settleWith(encoded) ?? undefined)
    try {
      this.#write(encoded)
    } catch (error) {
      this.#write(null)
      throw error
    }
    return null
  }

  /** A new job that is no row yet. */
  job(seq: number): WaitingJob | null {
    return this.#waiting.job(seq) ?? this.#replaying?.commits.job(seq) ?? null
  }

  /** A key that is no row yet. */
  key(owner: string, key: string): IdempotencyRow | null {
    return this.#waiting.key(owner, key) ?? this.#replaying?.commits.key(owner, key) ?? null
  }

  /** Output that is in no row yet. */
  hasOutput(attempt: Fence): boolean {
    return this.#waiting.hasOutput(attempt) || this.#replaying?.commits.hasOutput(attempt) === true
  }

  #hasRoom(): boolean {
    const now = performance.now()
    if (now < this.#roomUntil) return true
    const { bavail, bsize } = statfsSync(this.#ports.file)
    const has = bavail * bsize >= ROOM_BYTES
    if (has) this.#roomUntil = now + ROOM_MS
    return has
  }

  #record(commit: EncodedCommit): boolean {
    const record = { number: this.#number + 1, text: writeRecord(commit) }
    try {
      if (!this.#ports.log.append(record)) return false
    } catch (error) {
      throw this.#fail(`record ${record.number} of the commit log could not be written`, error)
    }
    this.#number += 1
    return true
  }

  #write(more: EncodedCommit | null): void {
    const { db, writer, log } = this.#ports
    const commits = this.#takeWaiting()
    try {
      inTransaction(db, () => {
        for (const encoded of commits) writer.write(encoded)
        if (more !== null) writer.write(more)
        if (commits.count > 0) this.#mark(this.#number)
      })
    } catch (error) {
      this.#waiting = commits
      if (more === null && commits.count > 0) throw this.#fail('logged commits could not become rows', error)
      throw error
    }
    log.startOver()
  }

  #replay(): Promise<void> {
    const commits = this.#takeWaiting()
    const done = this.#ports.replay(this.#ports.log.turn()).then(
      () => {
        this.#replaying = null
      },
      error => {
        throw this.#fail('logged commits could not become rows', error)
      },
    )
    done.catch(() => {})
    this.#replaying = { commits, done }
    return done
  }

  /** Whoever comes next is told of a failure. */
  #inTime(): void {
    this.#timer = null
    try {
      this.settle()?.catch(() => {})
    } catch {}
  }

  #takeWaiting(): WaitingCommits {
    const taken = this.#waiting
    this.#waiting = new WaitingCommits()
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    return taken
  }

  #fail(what: string, cause: unknown): LogOnly {
    const error = new LogOnly(`${what}: ${cause instanceof Error ? cause.message : cause}`, cause)
    this.#ports.failed(error)
    return error
  }
}
