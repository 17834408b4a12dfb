import type { LogPart } from './commit-log.ts'
import type { HandedOver } from './hand-over.ts'
import type { Pruner } from './prune.ts'
import type { Reader } from './reader.ts'

/** What each kind of thread answers; a thread has one connection of its own. */
export interface ThreadCalls {
  readonly reader: Reader
  readonly writer: Pruner & {
    /** Answers whether the write-ahead log has become long. */
    apply(...commit: HandedOver): boolean
    replay(part: LogPart): boolean
    checkpoint(): void
  }
  readonly folder: { checkpoint(): void }
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
