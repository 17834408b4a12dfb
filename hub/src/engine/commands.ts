import type {
  Abilities,
  AttemptReport,
  ChangeOf,
  Fence,
  FireOutcome,
  Hello,
  IdempotencyRow,
  JobRow,
  JobSpec,
  JobState,
  OwnerLimits,
  Role,
  RowWrite,
  SessionEnd,
  TerminalState,
} from '@stoker/protocol'
import type { Json, WorkerFacts } from './state.ts'

/** A job on its way in: parsed, with the id its submitter will know it by. */
export interface NewJob {
  readonly id: string
  readonly spec: JobSpec
  /** The spec as it is stored: canonical JSON. */
  readonly specText: string
  readonly retryOf: string | null
  /** Of a task for a preset that is defined: how many may wait for it though no session serves it yet. */
  readonly presetQueue?: number | undefined
}

/** Jobs of a submit that belong together: `size` of them from the one at `first` on. */
export interface NewGroup {
  readonly id: string
  readonly name: string
  readonly first: number
  readonly size: number
  readonly maxParallel: number | null
  readonly retryOf: string | null
}

/** Everything that can be asked of the engine. Commands carry their time-independent inputs; ids and randomness are made by the asker. */
export type Command =
  | {
      readonly kind: 'submit'
      readonly owner: string
      readonly jobs: readonly NewJob[]
      readonly groups?: readonly NewGroup[]
      readonly key: { readonly key: string; readonly hash: string } | null
      readonly failFast: boolean
      /** Tasks may be for sessions of any owner. */
      readonly isAdmin?: boolean | undefined
    }
  | { readonly kind: 'cancel'; readonly job: number; readonly by: string }
  /** Cancels a job that has no attempt; one that has goes on. */
  | { readonly kind: 'withdraw'; readonly job: number; readonly by: string }
  /** The session is asked to leave. */
  | { readonly kind: 'endSession'; readonly job: number; readonly reason: SessionEnd }
  /** The preset it was made from has changed or is gone: it leaves once it has nothing to do. */
  | { readonly kind: 'outdateSession'; readonly job: number }
  /** The session is wanted though it has no task. */
  | { readonly kind: 'keepSession'; readonly job: number }
  | { readonly kind: 'hold'; readonly job: number; readonly by: string }
  | { readonly kind: 'release'; readonly job: number; readonly by: string }
  | { readonly kind: 'setPriority'; readonly job: number; readonly priority: number }
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
      /** Null: the worker's protocol has no numbered batches. */
      readonly n: number | null
      readonly reports: readonly AttemptReport[]
      /** Row writes of the outputs room that must be in the same commit. */
      readonly rows: readonly RowWrite[]
      /** SHA-256 of content that artifacts of these reports name and their job's owner does not have. */
      readonly missing?: ReadonlySet<string> | undefined
    }
  /** A worker of another protocol says, or is found out, who it is. */
  | {
      readonly kind: 'enlist'
      readonly worker: string
      readonly facts: Omit<WorkerFacts, 'secretHash'>
    }
  /** What a gateway remembers of a worker. */
  | { readonly kind: 'note'; readonly worker: string; readonly note: Json }
  /** A worker that takes jobs only when it asks does so, for so many at most: they are leased to it when this is answered. */
  | { readonly kind: 'ask'; readonly worker: string; readonly most: number }
  /** A worker took a certain queued job by itself. */
  | { readonly kind: 'claim'; readonly worker: string; readonly job: number }
  /** The rules of a worker's protocol say that nothing more will be heard of the attempt: its job is queued again, and it may still come back; with `most` lost attempts the job fails. */
  | { readonly kind: 'lose'; readonly fence: Fence; readonly reason: string; readonly most?: number | undefined }
  | { readonly kind: 'abilities'; readonly worker: string; readonly abilities: Abilities }
  | { readonly kind: 'goodbye'; readonly worker: string; readonly reason: string }
  /** A worker that was too long silent is heard again on the same connection: what nobody took over goes on. */
  | { readonly kind: 'returned'; readonly worker: string }
  | { readonly kind: 'tick' }
  | { readonly kind: 'drain'; readonly worker: string; readonly on: boolean }
  | { readonly kind: 'removeWorker'; readonly worker: string }
  | { readonly kind: 'quarantine'; readonly uuid: string; readonly reason: string; readonly by: string }
  | { readonly kind: 'releaseDevice'; readonly uuid: string; readonly by: string }
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
  | {
      readonly kind: 'addWebhook'
      readonly id: string
      readonly owner: string
      readonly url: string
      readonly on: readonly TerminalState[]
      readonly labels: Readonly<Record<string, string>>
      /** Sealed by the hub's key. */
      readonly secret: string
    }
  | { readonly kind: 'removeWebhook'; readonly id: string }
  /** The same signing secret under a new key. */
  | { readonly kind: 'resealWebhook'; readonly id: string; readonly sealed: string }
  | { readonly kind: 'cancelGroup'; readonly group: string; readonly by: string }
  | { readonly kind: 'setLimits'; readonly owner: string; readonly limits: OwnerLimits }
  | ({ readonly kind: 'putSchedule' } & Omit<ChangeOf<'schedule'>, 'c' | 'at'>)
  | { readonly kind: 'removeSchedule'; readonly id: string }
  | {
      readonly kind: 'fire'
      readonly schedule: string
      /** The due time that is met; null when someone asks for a run. */
      readonly dueAt: number | null
      readonly nextAt: number | null
      readonly jobs: readonly NewJob[]
      readonly groups: readonly NewGroup[]
      /** Why the time passes without jobs. */
      readonly missed: string | null
      readonly refused: string | null
    }
  | {
      readonly kind: 'setSecret'
      readonly owner: string
      readonly name: string
      readonly bytes: number
      /** Encrypted by the asker: the engine never sees a value. */
      readonly sealed: string
    }
  | { readonly kind: 'removeSecret'; readonly owner: string; readonly name: string }
  /** The same value under a new key; nothing happens if it was changed since it was read. */
  | {
      readonly kind: 'resealSecret'
      readonly owner: string
      readonly name: string
      readonly changedAt: number
      readonly sealed: string
    }
  | ({ readonly kind: 'audit' } & Omit<ChangeOf<'audited'>, 'c' | 'at'>)
  | { readonly kind: 'auditEnded'; readonly id: string; readonly status: number }
  /** Ended jobs whose retention is over. */
  | { readonly kind: 'forget'; readonly jobs: readonly JobRow[] }
  | { readonly kind: 'rows'; readonly rows: readonly RowWrite[] }

/** What a command needs from history, read by the loop before deciding. */
export interface Facts {
  readonly idempotency: IdempotencyRow | null
  /** Jobs outside the batch that its jobs depend on, by id, as they were read; one that is missing does not exist. */
  readonly dependencies: ReadonlyMap<string, JobRef>
}
export const NO_FACTS: Facts = { idempotency: null, dependencies: new Map() }

export interface JobRef {
  readonly id: string
  readonly seq: number
  readonly owner: string
  readonly state: JobState
}

/** A job that was live when the facts were read has ended since: they must be read again, once its end is durable. */
export class StaleFacts extends Error {}

/** What became of a wish about a job that has not started; one that has is left as it is. */
type Effect = 'done' | 'active' | 'ended'

/** What the asker learns, once the changes are durable. */
export interface Replies {
  submit: {
    readonly firstSeq: number
    readonly count: number
    readonly repeated: boolean
    readonly unschedulable: readonly (string | null)[]
  }
  cancel: { readonly effect: 'canceled' | 'stopping' | 'ended' }
  withdraw: { readonly effect: 'canceled' | 'running' | 'ended' }
  endSession: { readonly effect: 'stopping' | 'ended' }
  keepSession: { readonly activeAt: number }
  outdateSession: { readonly effect: 'stopping' | 'ended' | 'working' }
  hold: { readonly effect: Effect }
  release: { readonly effect: Effect }
  setPriority: { readonly effect: Effect }
  hello: {
    readonly ackedBatch: number
    readonly stale: readonly Fence[]
    readonly reoffer: readonly Fence[]
    readonly draining: boolean
    readonly epoch: number
  }
  report: { readonly ackedBatch: number; readonly stale: readonly Fence[] }
  enlist: null
  note: null
  ask: null
  claim: { readonly fence: Fence }
  lose: null
  abilities: null
  goodbye: null
  returned: null
  tick: null
  drain: null
  removeWorker: null
  quarantine: null
  releaseDevice: null
  addToken: null
  revokeToken: null
  addWebhook: null
  removeWebhook: null
  resealWebhook: { readonly resealed: boolean }
  cancelGroup: { readonly canceled: number; readonly stopping: number }
  setLimits: null
  putSchedule: null
  removeSchedule: null
  /** Null: that time was met before. */
  fire: { readonly outcome: FireOutcome | null }
  setSecret: { readonly createdAt: number; readonly changedAt: number }
  removeSecret: null
  resealSecret: { readonly resealed: boolean }
  audit: null
  auditEnded: null
  forget: { readonly forgotten: readonly number[] }
  rows: null
}
export type ReplyTo<C extends Command> = Replies[C['kind']]
