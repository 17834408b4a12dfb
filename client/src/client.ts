import { randomUUID } from 'node:crypto'
import type { TransferOptions, UploadSource } from '@stoker/net'
import {
  type Artifact,
  CreatedToken,
  GcReport,
  Job,
  JobCounts,
  JobDetail,
  JobPage,
  type JobSpecInput,
  type JobState,
  type NewToken,
  Role,
  Submitted,
  TokenList,
  Worker,
  WorkerDetail,
  WorkerList,
} from '@stoker/protocol'
import { z } from 'zod'
import { type ArtifactOptions, artifactsTar, downloadArtifact, listArtifacts } from './artifacts.ts'
import { uploadBlob } from './blobs.ts'
import { type Call, createCaller } from './caller.ts'
import type { FollowOptions as EventOptions } from './event-stream.ts'
import { type FeedOptions, followFeed } from './feed.ts'
import { fetchTransport } from './fetch-transport.ts'
import { followJob } from './job-events.ts'
import { type LogOptions, readLogs } from './job-logs.ts'
import { nodeTransport } from './node-transport.ts'
import { postJobs, type SubmittedJob } from './post-jobs.ts'
import { queryText } from './query.ts'
import { SubmitBatches } from './submit-batches.ts'

export interface ClientOptions {
  readonly url: string
  readonly token?: string | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface SubmitOptions {
  /** Refuse a job that no known worker can run, instead of queueing it. */
  readonly failFast?: boolean | undefined
  /** Submitting again with the same key gives the same jobs; without one the client makes its own. */
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface JobFilter {
  readonly state?: readonly JobState[] | undefined
  readonly type?: string | undefined
  readonly worker?: string | undefined
  readonly name?: string | undefined
  readonly owner?: string | undefined
  readonly label?: readonly string[] | undefined
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** What a cancel did: a queued job ended at once, a running one is being stopped. */
export const Canceled = z.object({ effect: z.enum(['canceled', 'stopping']), job: Job })
export type Canceled = Readonly<z.infer<typeof Canceled>>

export const Me = z.object({ owner: z.string(), role: Role, tokenId: z.string() })
export type Me = Readonly<z.infer<typeof Me>>

export const Health = z.looseObject({
  status: z.string(),
  version: z.string(),
  epoch: z.number(),
  startedAt: z.union([z.string(), z.number()]),
  workers: z.object({ connected: z.number(), total: z.number() }),
})
export type Health = Readonly<z.infer<typeof Health>>

export type Client = ReturnType<typeof createClient>

/** Every route of the hub as a typed call; connections are kept, `close` lets them go. */
export function createClient(options: ClientOptions) {
  const { url, token, fetch } = options
  const transport = fetch === undefined ? nodeTransport(url) : fetchTransport(url, fetch)
  const caller = createCaller(url, token, transport)
  const place = { url, token, transport }
  const post = postJobs(caller)
  const batches = new SubmitBatches(post)

  return {
    url,
    close: transport.close,

    /** Concurrent submits travel together; each caller gets its own job or its own refusal. */
    async submit(spec: JobSpecInput, of: SubmitOptions = {}): Promise<SubmittedJob> {
      const { failFast = false, idempotencyKey, signal } = of
      if (idempotencyKey === undefined && signal === undefined) return batches.submit(spec, failFast)
      const key = idempotencyKey ?? randomUUID()
      const [job] = await post([JSON.stringify(spec)], { failFast, idempotencyKey: key, signal })
      if (job === undefined) throw new Error('one job was submitted, the hub answered none')
      return job
    },
    /** All or none: one bad spec refuses the whole list. */
    async submitMany(specs: readonly JobSpecInput[], of: SubmitOptions = {}): Promise<readonly SubmittedJob[]> {
      if (specs.length === 0) return []
      const { failFast = false, idempotencyKey = randomUUID(), signal } = of
      const texts = specs.map(spec => JSON.stringify(spec))
      return post(texts, { failFast, idempotencyKey, signal })
    },
    jobs: (filter: JobFilter = {}): Promise<JobPage> =>
      caller.json(get(`/api/v1/jobs${queryText({ ...filter, state: filter.state?.join(',') })}`), JobPage),
    job: (id: string): Promise<JobDetail> => caller.json(get(jobPath(id)), JobDetail),
    cancel: (id: string): Promise<Canceled> => caller.json(act(`${jobPath(id)}/cancel`), Canceled),
    async retry(id: string): Promise<SubmittedJob> {
      const [job] = (await caller.json(act(`${jobPath(id)}/retry`), Submitted)).jobs
      if (job === undefined) throw new Error(`a retry of ${id} makes one job, the hub answered none`)
      return job
    },
    events: (id: string, of?: EventOptions) => followJob(caller, id, of),
    logs: (id: string, of?: LogOptions) => readLogs(caller, id, of),
    feed: (of?: FeedOptions) => followFeed(caller, of),

    uploadBlob: (source: UploadSource, of?: TransferOptions) => uploadBlob(place, source, of),
    artifacts: (id: string, of?: ArtifactOptions) => listArtifacts(caller, id, of),
    downloadArtifact: (
      id: string,
      artifact: Pick<Artifact, 'path' | 'sha256' | 'size'>,
      file: string,
      of?: ArtifactOptions & TransferOptions,
    ) => downloadArtifact(place, id, artifact, file, of),
    artifactsTar: (id: string, of?: ArtifactOptions) => artifactsTar(caller, id, of),

    counts: async (owner?: string): Promise<JobCounts> =>
      (await caller.json(get(`/api/v1/counts${queryText({ owner })}`), z.object({ counts: JobCounts }))).counts,

    workers: async (): Promise<readonly Worker[]> => (await caller.json(get('/api/v1/workers'), WorkerList)).workers,
    worker: (idOrName: string): Promise<WorkerDetail> => caller.json(get(workerPath(idOrName)), WorkerDetail),
    drain: (idOrName: string): Promise<Worker> => caller.json(again(`${workerPath(idOrName)}/drain`), Worker),
    resume: (idOrName: string): Promise<Worker> => caller.json(again(`${workerPath(idOrName)}/resume`), Worker),
    async removeWorker(idOrName: string): Promise<void> {
      await caller.text(remove(workerPath(idOrName)))
    },

    createToken: (token: NewToken): Promise<CreatedToken> =>
      caller.json({ ...act('/api/v1/tokens'), body: JSON.stringify(token) }, CreatedToken),
    tokens: async () => (await caller.json(get('/api/v1/tokens'), TokenList)).tokens,
    async revokeToken(id: string): Promise<void> {
      await caller.text(remove(`/api/v1/tokens/${encodeURIComponent(id)}`))
    },

    me: (): Promise<Me> => caller.json(get('/api/v1/me'), Me),
    gcPlan: (): Promise<GcReport> => caller.json(get('/api/v1/gc'), GcReport),
    gc: (): Promise<GcReport> => caller.json(again('/api/v1/gc'), GcReport),
    health: (): Promise<Health> => caller.json(get('/health'), Health),
    metrics: (): Promise<string> => caller.text(get('/metrics')),
    openapi: (): Promise<Record<string, unknown>> =>
      caller.json(get('/openapi.json'), z.record(z.string(), z.unknown())),
  }
}

const get = (path: string): Call => ({ method: 'GET', path, repeatable: true })
const act = (path: string): Call => ({ method: 'POST', path, repeatable: false })
const again = (path: string): Call => ({ method: 'POST', path, repeatable: true })
const remove = (path: string): Call => ({ method: 'DELETE', path, repeatable: false })
const jobPath = (id: string) => `/api/v1/jobs/${encodeURIComponent(id)}`
const workerPath = (idOrName: string) => `/api/v1/workers/${encodeURIComponent(idOrName)}`
