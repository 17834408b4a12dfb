import type { AttemptReport, Fence, Hello, HubMessage, Offer, OutputStream, Stop, Welcome } from '@stoker/protocol'
import type { SpoolBatch } from './spool.ts'

/** The worker's side of everything it says in a hello that it knows only from outside. */
export type Introduction = Omit<Hello, 't' | 'protocol' | 'epochSeen' | 'nextBatch' | 'holding' | 'draining'>

/** How far the output of an attempt goes. */
interface Output {
  readonly fence: Fence
  readonly sizes: Readonly<Record<OutputStream, number>>
}

/** What the worker's end of the session is told. */
export type SessionEvent =
  | { readonly e: 'connected' }
  | { readonly e: 'closed' }
  | { readonly e: 'message'; readonly message: HubMessage }
  | { readonly e: 'tick' }
  | { readonly e: 'report'; readonly reports: readonly AttemptReport[]; readonly output?: Output | undefined }
  | ({ readonly e: 'output' } & Output)
  /** What was reported since is said now, or soon; whatever happens in one moment shares a batch. */
  | { readonly e: 'flush' }
  | { readonly e: 'drain'; readonly on: boolean }
  | { readonly e: 'leave'; readonly reason: string }

/** What it wants done, in this order. */
export type SessionAction =
  | { readonly a: 'dial'; readonly inMs: number }
  | { readonly a: 'hang up'; readonly why: string }
  | {
      readonly a: 'hello'
      readonly hello: Pick<Hello, 't' | 'protocol' | 'epochSeen' | 'nextBatch' | 'holding' | 'draining'>
    }
  /** Record before sending; `resent` ones are recorded already. */
  | { readonly a: 'batch'; readonly batch: SpoolBatch; readonly resent: boolean }
  /** Flush again then. */
  | { readonly a: 'gather'; readonly inMs: number }
  | { readonly a: 'beat' }
  | { readonly a: 'goodbye'; readonly reason: string }
  | { readonly a: 'acked'; readonly n: number; readonly over: readonly Fence[] }
  | { readonly a: 'start'; readonly offer: Offer }
  | { readonly a: 'stop'; readonly stop: Stop }
  | { readonly a: 'draining'; readonly on: boolean }
  | { readonly a: 'welcomed'; readonly welcome: Welcome }
  | { readonly a: 'refused'; readonly message: string; readonly final: boolean }
