import type { LiveBoard } from '../../engine/live-board.ts'
import type { EngineLoop } from '../../engine/loop.ts'
import type { Streams } from '../../outputs/port.ts'
import type { PresetSource } from '../../presets/expand-preset.ts'
import type { Doorkeeper } from '../../serving/rate-limit.ts'
import type { Queries } from '../../store/port.ts'
import type { TokenFigures } from './token-figures.ts'

/** What becomes of a task that still waits when the client who asked for it has gone. */
export type OnDisconnect = 'cancel' | 'keep'

/** What the endpoint needs of the hub. */
export interface OpenAiContext {
  readonly engine: Pick<EngineLoop, 'execute' | 'read' | 'onCommit'>
  readonly queries: Queries
  readonly streams: Streams
  readonly board: LiveBoard
  readonly presets: PresetSource
  readonly door: Doorkeeper
  readonly figures: TokenFigures
  readonly onDisconnect: OnDisconnect
  readonly now: () => number
  readonly newId: () => string
  /** Shown as the time since when a model is there. */
  readonly startedAt: number
  readonly diskGuard: () => { readonly freeBytes: number; readonly neededBytes: number } | null
  readonly isStopping: () => boolean
  /** A bug was met while answering. */
  readonly failed: (error: unknown) => void
}
