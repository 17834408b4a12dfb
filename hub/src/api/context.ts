import type { RequestListener } from 'node:http'
import type { GcReport, Listener, ListenerList } from '@stoker/protocol'
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify'
import type { ZodTypeProvider } from 'fastify-type-provider-zod'
import type { LiveBoard } from '../engine/live-board.ts'
import type { EngineLoop } from '../engine/loop.ts'
import type { WebhookState } from '../engine/owner-things.ts'
import type { State } from '../engine/state.ts'
import type { Blobs } from '../outputs/artifacts/port.ts'
import type { Streams } from '../outputs/port.ts'
import type { PresetSource } from '../presets/expand-preset.ts'
import type { WarmthOf } from '../presets/keep-warm.ts'
import type { ProgramBook } from '../programs/program-book.ts'
import type { ExplainedJob } from '../scheduler/explain/explain-job.ts'
import type { DescribedRoute } from '../serving/described-route.ts'
import type { JobWatch } from '../serving/job-watch.ts'
import type { OpenStreams } from '../serving/open-streams.ts'
import type { RateLimits } from '../serving/rate-limit.ts'
import type { Queries } from '../store/port.ts'
import type { TokenBook } from './auth.ts'
import type { JobNames } from './job-names.ts'
import type { InTurn } from './one-at-a-time.ts'

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
  readonly vault: Vault
  readonly version: string
  readonly startedAt: number
  /** Null while there is room for new work; cheap, asked before every submit. */
  readonly diskGuard: () => DiskShortage | null
  readonly unschedulable: (state: State, bucketId: number) => string | null
  /** Null for a job that has ended. */
  readonly explain: (state: State, job: number) => ExplainedJob | null
  readonly isStopping: () => boolean
  /** Figures others count, shown with the API's own. */
  readonly metrics: readonly { readonly text: string }[]
  /** Why the queued jobs of a bucket have not started, as a short code. */
  readonly waitCode: (state: State, bucketId: number) => string
  readonly dataSizes: () => Promise<{ readonly freeBytes: number; readonly parts: Readonly<Record<string, number>> }>
  readonly webhooks: WebhookPort
  readonly listeners: ListenersPort
  readonly presets: PresetSource
  /** What the programs of job types take. */
  readonly programs?: ProgramBook | undefined
  /** How the sessions of a preset are doing. */
  readonly warmthOf: WarmthOf
  /** What another machine needs to run a worker of this version; null where the hub was not built. */
  readonly workerBundle: () => Promise<WorkerBundle | null>
  readonly limits?: RateLimits | undefined
  /** Puts other services of the hub before the API, on the same listener. */
  readonly front?: ((api: RequestListener) => RequestListener) | undefined
  /** The routes of those services: they are in the document too. */
  readonly described?: readonly DescribedRoute[] | undefined
  readonly logger?: FastifyBaseLogger | undefined
}

/** What the routes of webhooks need of whoever signs and posts. */
interface WebhookPort {
  readonly newSecret: () => string
  /** Why a URL would never be posted to; null where that is not known. */
  readonly refusal: (url: string) => string | null
  readonly ping: (webhook: WebhookState) => Promise<{ readonly status: number } | { readonly error: string }>
}

/** Seals the values of secrets; see the composition for where its key is. */
export interface Vault {
  seal(owner: string, name: string, value: Uint8Array): Promise<string>
  open(owner: string, name: string, sealed: string): Promise<Uint8Array>
  addKey(): Promise<string>
  dropOldKeys(): Promise<void>
}

/** Where the hub listens, and how that is changed while it runs. */
interface ListenersPort {
  list(): ListenerList
  open(url: string): Promise<Listener>
  close(name: string): Promise<void>
}

/** A packed folder, by the SHA-256 of its bytes. */
export interface WorkerBundle {
  readonly bytes: Uint8Array
  readonly sha256: string
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
  /** Runs what seals values one after the other: one sealed with an old key must be stored before that key goes. */
  readonly alone: InTurn
  /** Runs the reading of large batches of specs one after the other. */
  readonly reading: InTurn
}

export type Api = FastifyInstance<
  RawServerDefault,
  Parameters<FastifyInstance['routing']>[0],
  Parameters<FastifyInstance['routing']>[1],
  FastifyBaseLogger,
  ZodTypeProvider
>
