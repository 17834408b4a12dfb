import { randomUUID } from 'node:crypto'
import type { TransferOptions, Trust, UploadSource } from '@stoker/net'
import {
  type Artifact,
  AuditPage,
  CreatedToken,
  CreatedWebhook,
  Device,
  Explanation,
  GcReport,
  isSweep,
  Job,
  JobCounts,
  JobDetail,
  JobPage,
  type JobSpecInput,
  type JobState,
  KeyRotated,
  Listener,
  ListenerList,
  type NewToken,
  type NewWebhook,
  Role,
  Secret,
  SecretList,
  Submitted,
  TokenList,
  WebhookDetail,
  WebhookList,
  WebhookPing,
  Worker,
  WorkerDetail,
  WorkerList,
} from '@stoker/protocol'
import { z } from 'zod'
import { type ArtifactOptions, artifactsTar, downloadArtifact, listArtifacts } from './artifacts.ts'
import { uploadBlob } from './blobs.ts'
import { type Call, createCaller } from './caller.ts'
import { type FeedOptions, followFeed } from './feed.ts'
import { fetchTransport } from './fetch-transport.ts'
import { groupCalls } from './group-calls.ts'
import { followJob, type JobEventOptions } from './job-events.ts'
import { type LogOptions, readLogs } from './job-logs.ts'
import { nodeTransport } from './node-transport.ts'
import { ownerCalls } from './owner-calls.ts'
import { postJobs, type SubmittedJob } from './post-jobs.ts'
import { presetCalls } from './preset-calls.ts'
import { queryText } from './query.ts'
import { scheduleCalls } from './schedule-calls.ts'
import { sessionCalls } from './session-calls.ts'
import { SubmitBatches } from './submit-batches.ts'

export interface ClientOptions {
  readonly url: string
  readonly token?: string | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  /** How an https hub is known, and the proxy on the way to it; not for a caller's own `fetch`. */
  readonly trust?: Trust | undefined
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
  readonly group?: string | undefined
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
  const { url, token, fetch, trust } = options
  const transport = fetch === undefined ? nodeTransport(url, trust) : fetchTransport(url, fetch)
  const caller = createCaller(url, token, transport)
  const place = { url, token, transport }
  const post = postJobs(caller)
  const batches = new SubmitBatches(post)

  return {
    url,
    close: transport.close,
    ...groupCalls(caller),
    ...scheduleCalls(caller),
    ...sessionCalls(caller),
    ...ownerCalls(caller),
    ...presetCalls(caller),

    /** Concurrent submits travel together; each caller gets its own job or its own refusal. One that names other jobs goes alone: names are those of its own batch. */
    async submit(spec: JobSpecInput, of: SubmitOptions = {}): Promise<SubmittedJob> {
      if (isSweep(spec)) throw new Error('a spec with "array" or "matrix" makes a group: submit it with submitAll')
      const { failFast = false, idempotencyKey, signal } = of
      const mayTravel = idempotencyKey === undefined && signal === undefined && spec.dependsOn === undefined
      if (mayTravel) return batches.submit(spec, failFast)
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
    jobs: (filter: JobFilter = {}, signal?: AbortSignal): Promise<JobPage> =>
      caller.json(
        { ...get(`/api/v1/jobs${queryText({ ...filter, state: filter.state?.join(',') })}`), signal },
        JobPage,
      ),
    job: (id: string): Promise<JobDetail> => caller.json(get(jobPath(id)), JobDetail),
    explain: (id: string): Promise<Explanation> => caller.json(get(`${jobPath(id)}/explain`), Explanation),
    cancel: (id: string): Promise<Canceled> => caller.json(act(`${jobPath(id)}/cancel`), Canceled),
    /** Only for jobs that have not started, as are the next two. */
    hold: (id: string): Promise<Job> => caller.json(again(`${jobPath(id)}/hold`), Job),
    release: (id: string): Promise<Job> => caller.json(again(`${jobPath(id)}/release`), Job),
    setPriority: (id: string, priority: number): Promise<Job> =>
      caller.json({ ...patch(jobPath(id)), body: JSON.stringify({ priority }) }, Job),
    async retry(id: string): Promise<SubmittedJob> {
      const [job] = (await caller.json(act(`${jobPath(id)}/retry`), Submitted)).jobs
      if (job === undefined) throw new Error(`a retry of ${id} makes one job, the hub answered none`)
      return job
    },
    events: (id: string, of?: JobEventOptions) => followJob(caller, id, of),
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

    workers: async (signal?: AbortSignal): Promise<readonly Worker[]> =>
      (await caller.json({ ...get('/api/v1/workers'), signal }, WorkerList)).workers,
    worker: (idOrName: string): Promise<WorkerDetail> => caller.json(get(workerPath(idOrName)), WorkerDetail),
    drain: (idOrName: string): Promise<Worker> => caller.json(again(`${workerPath(idOrName)}/drain`), Worker),
    resume: (idOrName: string): Promise<Worker> => caller.json(again(`${workerPath(idOrName)}/resume`), Worker),
    async removeWorker(idOrName: string): Promise<void> {
      await caller.text(remove(workerPath(idOrName)))
    },

    quarantineDevice: (uuid: string, reason: string): Promise<Device> =>
      caller.json({ ...again(devicePath(uuid)), body: JSON.stringify({ reason }) }, Device),
    async releaseDevice(uuid: string): Promise<void> {
      await caller.text({ ...remove(devicePath(uuid)), repeatable: true })
    },

    createToken: (token: NewToken): Promise<CreatedToken> =>
      caller.json({ ...act('/api/v1/tokens'), body: JSON.stringify(token) }, CreatedToken),
    tokens: async () => (await caller.json(get('/api/v1/tokens'), TokenList)).tokens,
    async revokeToken(id: string): Promise<void> {
      await caller.text(remove(`/api/v1/tokens/${encodeURIComponent(id)}`))
    },

    addWebhook: (webhook: NewWebhook): Promise<CreatedWebhook> =>
      caller.json({ ...act('/api/v1/webhooks'), body: JSON.stringify(webhook) }, CreatedWebhook),
    webhooks: async () => (await caller.json(get('/api/v1/webhooks'), WebhookList)).webhooks,
    webhook: (id: string): Promise<WebhookDetail> => caller.json(get(webhookPath(id)), WebhookDetail),
    pingWebhook: (id: string): Promise<WebhookPing> => caller.json(again(`${webhookPath(id)}/ping`), WebhookPing),
    async removeWebhook(id: string): Promise<void> {
      await caller.text(remove(webhookPath(id)))
    },
    setSecret: (name: string, value: Uint8Array, owner?: string): Promise<Secret> => {
      const body = JSON.stringify({ value: Buffer.from(value).toString('base64'), encoding: 'base64' })
      return caller.json({ method: 'PUT', path: secretPath(name, owner), repeatable: true, body }, Secret)
    },
    secrets: (of: { readonly owner?: string | undefined; readonly cursor?: string | undefined } = {}) =>
      caller.json(get(`/api/v1/secrets${queryText(of)}`), SecretList),
    async removeSecret(name: string, owner?: string): Promise<void> {
      await caller.text(remove(secretPath(name, owner)))
    },
    rotateSecretKey: (): Promise<KeyRotated> => caller.json(act('/api/v1/secret-key/rotate'), KeyRotated),
    /** What was done with power, newest first. */
    audit: (of: { readonly limit?: number | undefined; readonly cursor?: string | undefined } = {}) =>
      caller.json(get(`/api/v1/audit${queryText(of)}`), AuditPage),
    listeners: (): Promise<ListenerList> => caller.json(get('/api/v1/listeners'), ListenerList),
    openListener: (url: string): Promise<Listener> =>
      caller.json({ ...again('/api/v1/listeners'), body: JSON.stringify({ url }) }, Listener),
    async closeListener(name: string): Promise<void> {
      await caller.text(remove(`/api/v1/listeners/${encodeURIComponent(name)}`))
    },

    me: (): Promise<Me> => caller.json(get('/api/v1/me'), Me),
    gcPlan: (): Promise<GcReport> => caller.json(get('/api/v1/gc'), GcReport),
    gc: (): Promise<GcReport> => caller.json(again('/api/v1/gc'), GcReport),
    health: (): Promise<Health> => caller.json(get('/health'), Health),
    /** The hub's health, with the time its answer carries, to the second. */
    async clock(): Promise<{ readonly health: Health; readonly date: string | null }> {
      const reply = await caller.open(get('/health'))
      const health = Health.parse(JSON.parse(await reply.text()))
      return { health, date: reply.header('date') ?? null }
    },
    metrics: (): Promise<string> => caller.text(get('/metrics')),
    openapi: (): Promise<Record<string, unknown>> =>
      caller.json(get('/openapi.json'), z.record(z.string(), z.unknown())),
  }
}

const get = (path: string): Call => ({ method: 'GET', path, repeatable: true })
const act = (path: string): Call => ({ method: 'POST', path, repeatable: false })
const again = (path: string): Call => ({ method: 'POST', path, repeatable: true })
const patch = (path: string): Call => ({ method: 'PATCH', path, repeatable: true })
const remove = (path: string): Call => ({ method: 'DELETE', path, repeatable: false })
const jobPath = (id: string) => `/api/v1/jobs/${encodeURIComponent(id)}`
const webhookPath = (id: string) => `/api/v1/webhooks/${encodeURIComponent(id)}`
const secretPath = (name: string, owner?: string) =>
  `/api/v1/secrets/${encodeURIComponent(name)}${queryText({ owner })}`
const devicePath = (uuid: string) => `/api/v1/devices/${encodeURIComponent(uuid)}/quarantine`
const workerPath = (idOrName: string) => `/api/v1/workers/${encodeURIComponent(idOrName)}`
