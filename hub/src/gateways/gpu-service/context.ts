import type { JobSpec, SpecIssue } from '@stoker/protocol'
import type { NewJob } from '../../engine/commands.ts'
import type { LiveBoard } from '../../engine/live-board.ts'
import type { EngineLoop } from '../../engine/loop.ts'
import type { State } from '../../engine/state.ts'
import type { Streams } from '../../outputs/port.ts'
import type { PresetBook } from '../../presets/preset.ts'
import type { Settings } from '../../presets/settings.ts'
import type { Doorkeeper } from '../../serving/rate-limit.ts'
import type { Queries } from '../../store/port.ts'
import type { DeviceNumbers } from './device-numbers.ts'

/** What the service needs of the hub. */
export interface GpuServiceContext {
  readonly engine: Pick<EngineLoop, 'execute' | 'read' | 'onCommit'>
  readonly queries: Queries
  readonly streams: Streams
  readonly board: LiveBoard
  readonly devices: DeviceNumbers
  readonly presets: { readonly current: () => Promise<PresetBook>; readonly settings: Settings }
  readonly door: Doorkeeper
  readonly now: () => number
  readonly newId: () => string
  readonly version: string
  readonly diskGuard: () => { readonly freeBytes: number; readonly neededBytes: number } | null
  /** Why no worker that is known could ever run the job; null if one could. */
  readonly unschedulable: (state: State, job: NewJob) => string | null
  /** How many queued jobs are before this one; null for one that is not queued or that nothing could run. */
  readonly ahead: (state: State, job: number) => number | null
  /** What the programs of job types ask for, and what they would refuse. */
  readonly programs: {
    check(spec: JobSpec): { readonly spec: JobSpec } | { readonly issues: readonly SpecIssue[] }
  }
  readonly isStopping: () => boolean
  /** A bug was met while answering. */
  readonly failed: (error: unknown) => void
}
