import type { JobSpec, SpecIssue } from '@stoker/protocol'
import type { LiveBoard } from '../../../engine/live-board.ts'
import type { EngineLoop } from '../../../engine/loop.ts'
import type { State, WorkerState } from '../../../engine/state.ts'
import type { Blobs } from '../../../outputs/artifacts/port.ts'
import type { Streams } from '../../../outputs/port.ts'
import type { Doorkeeper } from '../../../serving/rate-limit.ts'
import type { Queries } from '../../../store/port.ts'

/** What the routes for customers need of the hub. */
export interface ConsumerContext {
  readonly engine: Pick<EngineLoop, 'execute' | 'read' | 'onCommit'>
  readonly queries: Queries
  readonly streams: Streams
  readonly blobs: Pick<Blobs, 'read'>
  readonly board: LiveBoard
  readonly door: Doorkeeper
  readonly now: () => number
  readonly newId: () => string
  readonly diskGuard: () => { readonly freeBytes: number; readonly neededBytes: number } | null
  readonly isStopping: () => boolean
  /** Callers on this machine need no token. */
  readonly isOpen: boolean
  /** What a provider said of itself when it registered. */
  readonly offerOf: (worker: WorkerState) => ProviderOffer
  /** Why a worker could never run such a job; null if it could. */
  readonly refusalsOf: (spec: JobSpec) => (worker: WorkerState) => string | null
  /** Why no worker that is known could ever run the jobs of a bucket; null if one could. */
  readonly unschedulable: (state: State, bucket: number) => string | null
  /** What the programs of job types ask for, and what they would refuse. */
  readonly programs: {
    check(spec: JobSpec): { readonly spec: JobSpec } | { readonly issues: readonly SpecIssue[] }
  }
  /** A bug was met while answering. */
  readonly failed: (error: unknown) => void
}

/** What is absent was not said. */
export interface ProviderOffer {
  readonly address?: string | undefined
  readonly pricePerHour?: number | undefined
  readonly location?: string | undefined
  readonly computePower?: number | undefined
  /** The id its worker gave itself; others may have the same. */
  readonly workerId?: string | undefined
}
