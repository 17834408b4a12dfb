import type { AttemptReport, Fence, Hello, IdempotencyRow, JobRow, JobSpec, Role, RowWrite } from '@stoker/protocol'

/** A job on its way in: parsed, with the id its submitter will know it by. */
export interface NewJob {
  readonly id: string
  readonly spec: JobSpec
  /** The spec as it is stored: canonical JSON. */
  readonly specText: string
  readonly retryOf: string | null
}

/** Everything that can be asked of the engine. Commands carry their time-independent inputs; ids and randomness are made by the asker. */
export type Command =
  | {
      readonly kind: 'submit'
      readonly owner: string
      readonly jobs: readonly NewJob[]
      readonly key: { readonly key: string; readonly hash: string } | null
      readonly failFast: boolean
    }
  | { readonly kind: 'cancel'; readonly job: number; readonly by: string }
  | {
      readonly kind: 'hello'
      readonly hello: Hello
      readonly secretHash: string
      /** Hash of the one-time join token, when the worker is not known yet. */
      readonly joinHash: string | null
    }
  | {
      readonly kind: 'report'
      readonly worker: string
      readonly n: number
      readonly reports: readonly AttemptReport[]
      /** Row writes of the outputs room that must be in the same commit. */
      readonly rows: readonly RowWrite[]
      /** SHA-256 of content that artifacts of these reports name and their job's owner does not have. */
      readonly missing?: ReadonlySet<string> | undefined
    }
  | { readonly kind: 'goodbye'; readonly worker: string; readonly reason: string }
  /** A worker that was too long silent is heard again on the same connection: what nobody took over goes on. */
  | { readonly kind: 'returned'; readonly worker: string }
  | { readonly kind: 'tick' }
  | { readonly kind: 'drain'; readonly worker: string; readonly on: boolean }
  | { readonly kind: 'removeWorker'; readonly worker: string }
  | {
      readonly kind: 'addToken'
      readonly id: string
      readonly hash: string
      readonly role: Role
      readonly owner: string
      readonly label: string
      readonly expiresAt: number | null
    }
  | { readonly kind: 'revokeToken'; readonly id: string }
  /** Ended jobs whose retention is over. */
  | { readonly kind: 'forget'; readonly jobs: readonly JobRow[] }
  | { readonly kind: 'rows'; readonly rows: readonly RowWrite[] }

/** What a command needs from history, read by the loop before deciding. */
export interface Facts {
  readonly idempotency: IdempotencyRow | null
}
export const NO_FACTS: Facts = { idempotency: null }

/** What the asker learns, once the changes are durable. */
export interface Replies {
  submit: {
    readonly firstSeq: number
    readonly count: number
    readonly repeated: boolean
    readonly unschedulable: readonly (string | null)[]
  }
  cancel: { readonly effect: 'canceled' | 'stopping' | 'ended' }
  hello: {
    readonly ackedBatch: number
    readonly stale: readonly Fence[]
    readonly reoffer: readonly Fence[]
    readonly draining: boolean
    readonly epoch: number
  }
  report: { readonly ackedBatch: number; readonly stale: readonly Fence[] }
  goodbye: null
  returned: null
  tick: null
  drain: null
  removeWorker: null
  addToken: null
  revokeToken: null
  forget: { readonly forgotten: readonly number[] }
  rows: null
}
export type ReplyTo<C extends Command> = Replies[C['kind']]
