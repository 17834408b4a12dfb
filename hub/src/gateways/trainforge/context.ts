import type { Log } from '@stoker/files'
import type { LiveBoard } from '../../engine/live-board.ts'
import type { EngineLoop } from '../../engine/loop.ts'
import type { Now, State } from '../../engine/state.ts'
import type { Blobs } from '../../outputs/artifacts/port.ts'
import type { Streams } from '../../outputs/port.ts'
import type { Doorkeeper } from '../../serving/rate-limit.ts'
import type { Queries } from '../../store/port.ts'

/** What the gateway needs of the hub. */
export interface TrainForgeContext {
  readonly engine: Pick<EngineLoop, 'execute' | 'read' | 'touch' | 'onCommit'>
  readonly queries: Queries
  readonly streams: Streams
  readonly blobs: Blobs
  readonly board: LiveBoard
  readonly door: Doorkeeper
  readonly clock: () => Now
  readonly newSecret: () => string
  /** Where the folders of attempts are made, each of the list. */
  readonly projects: readonly string[]
  /** How long the folder of an ended attempt stays. */
  readonly keepProjectsMs: number
  /** Brings the script a job names by its address. */
  readonly fetchScript: (url: string) => Promise<Uint8Array>
  /** Whether a worker may have the queued job it chose by itself. */
  readonly claimable: (
    state: State,
    job: number,
    worker: string,
    now: Now,
  ) => { readonly gpus: readonly string[] } | { readonly refused: string }
  /** Callers of this machine need no token. */
  readonly isOpen: boolean
  readonly isStopping: () => boolean
  readonly log: Log
}
