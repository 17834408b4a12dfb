import type { NewJob } from '../../../engine/commands.ts'
import type { LiveBoard } from '../../../engine/live-board.ts'
import type { EngineLoop } from '../../../engine/loop.ts'
import type { State } from '../../../engine/state.ts'
import type { Blobs } from '../../../outputs/artifacts/port.ts'
import type { Streams } from '../../../outputs/port.ts'
import type { Doorkeeper } from '../../../serving/rate-limit.ts'
import type { DiskGuard } from '../../../serving/refuse-when-full.ts'
import type { Queries } from '../../../store/port.ts'
import type { WorkerSide } from '../worker-side.ts'

/** What the routes for people and tools of this dialect need of the hub. */
export interface ConsumerContext {
  readonly engine: Pick<EngineLoop, 'execute' | 'read' | 'onCommit'>
  readonly queries: Queries
  readonly streams: Streams
  readonly blobs: Blobs
  readonly board: LiveBoard
  readonly door: Doorkeeper
  readonly now: () => number
  readonly newId: () => string
  readonly version: string
  readonly diskGuard: DiskGuard
  /** Why no worker that is known could ever run the job; null if one could. */
  readonly unschedulable: (state: State, job: NewJob) => string | null
  /** A folder for what is on its way in or out; emptied at the start. */
  readonly scratch: string
  /** The largest project that is taken; absent: 1 GiB. */
  readonly maxProjectBytes?: number | undefined
  /** Callers of this machine need no token. */
  readonly isOpen: boolean
  readonly isStopping: () => boolean
  /** A bug was met while answering. */
  readonly failed: (error: unknown) => void
  /** What the side of this dialect that serves workers adds; absent: nothing. */
  readonly workers?: WorkerSide | undefined
}
