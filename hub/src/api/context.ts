import type { GcReport } from '@stoker/protocol'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { LiveBoard } from '../engine/live-board.ts'
import type { EngineLoop } from '../engine/loop.ts'
import type { State } from '../engine/state.ts'
import type { Blobs } from '../outputs/artifacts/port.ts'
import type { Streams } from '../outputs/port.ts'
import type { Queries } from '../store/port.ts'
import type { TokenBook } from './auth.ts'
import type { JobNames } from './job-names.ts'
import type { JobWatch } from './job-watch.ts'
import type { OpenStreams } from './open-streams.ts'

/** What the API needs of the hub; time, ids and randomness are passed in. */
export interface ApiContext {
  readonly engine: Pick<EngineLoop, 'execute' | 'read' | 'onCommit'>
  readonly queries: Queries
  readonly streams: Streams
  readonly blobs: Blobs
  readonly board: LiveBoard
  readonly gc: { plan(): Promise<GcReport>; run(): Promise<GcReport> }
  readonly now: () => number
  /** A fresh UUIDv7. */
  readonly newId: () => string
  readonly random: (bytes: number) => Buffer
  readonly version: string
  readonly startedAt: number
  /** Null while there is room for new work; cheap, asked before every submit. */
  readonly diskGuard: () => Promise<DiskShortage | null>
  readonly unschedulable: (state: State, bucketId: number) => string | null
  readonly isStopping: () => boolean
  readonly logger?: FastifyBaseLogger | undefined
}

interface DiskShortage {
  readonly freeBytes: number
  readonly neededBytes: number
}

/** The context as routes see it, with what they share. */
export interface RouteContext extends ApiContext {
  readonly tokens: TokenBook
  readonly watch: JobWatch
  readonly names: JobNames
  readonly open: OpenStreams
}

export type Api = FastifyInstance<
  RawServerDefault,
  Parameters<FastifyInstance['routing']>[0],
  Parameters<FastifyInstance['routing']>[1],
  FastifyBaseLogger,
  ZodTypeProvider
>
