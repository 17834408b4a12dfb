import type { Log } from '@stoker/files'
import type { LiveBoard } from '../../engine/live-board.ts'
import type { EngineLoop } from '../../engine/loop.ts'
import type { Streams } from '../../outputs/port.ts'
import type { Doorkeeper } from '../../serving/rate-limit.ts'
import type { Queries } from '../../store/port.ts'

/** What the gateway needs of the hub. */
export interface QubixContext {
  readonly engine: Pick<EngineLoop, 'execute' | 'read' | 'touch' | 'onCommit'>
  readonly queries: Queries
  readonly streams: Streams
  readonly board: LiveBoard
  readonly door: Doorkeeper
  readonly now: () => number
  /** Callers on this machine need no token. */
  readonly isOpen: boolean
  /** So many workers of this dialect are known at most: those that never come back are not forgotten by themselves. */
  readonly mostWorkers: number
  readonly log: Log
}
