import type { SyncQueries } from '../sync-queries.ts'
import type { LogPart } from './commit-log.ts'
import type { Pruner } from './prune.ts'

/** What each kind of thread answers; a thread has one connection of its own. */
export interface ThreadCalls {
  readonly reader: SyncQueries
  readonly writer: Pruner & {
    /** An EncodedCommit as JSON. */
    apply(commit: string): void
    replay(part: LogPart): void
    checkpoint(): void
  }
  readonly copier: { copyTo(file: string): void }
}
export type ThreadRole = keyof ThreadCalls

export interface ThreadStart {
  readonly role: ThreadRole
  readonly file: string
  readonly maxPages: number | null
}

export interface ThreadRequest {
  readonly id: number
  /** Null asks the thread to close its connection and end. */
  readonly call: string | null
  readonly args: readonly unknown[]
}

/** An error's own fields do not cross threads, so SQLite's code travels beside it. */
export type ThreadReply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: unknown; readonly sqliteCode: number | null }
