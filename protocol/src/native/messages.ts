import { z } from 'zod'
import { ArtifactEntry } from '../artifact.ts'
import { Checkpoint } from '../checkpoint.ts'
import { JobSpec } from '../job-spec.ts'
import { Abilities, DeviceNews, GpuSample, Hardware, HostSample, Progress, RUN_ISOLATIONS, Usage } from '../machine.ts'
import { OfferedSecrets } from '../secret.ts'
import { SentSpec } from '../spec-record.ts'

/** Numbers a peer says become columns of whole numbers: anything else is refused at the door. */
const count = z.int().min(0)
const at = z.int()
/** Beyond any machine. */
const MAX_CPUS = 1_000_000

/** Names one attempt for ever: the job's number, the hub's epoch when it was placed, and the attempt's number. */
export const Fence = z.object({ job: count, epoch: count, attempt: count })
export type Fence = Readonly<z.infer<typeof Fence>>

const Version = z.object({ major: count, minor: count })

export const AttemptReport = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('starting'), fence: Fence, at, operation: z.string().nullable() }),
  z.object({
    kind: z.literal('running'),
    fence: Fence,
    at,
    isolation: z.enum(RUN_ISOLATIONS),
    /** As the engine of its machine knows it. */
    containerId: z.string().max(128).optional(),
  }),
  /** Every file of it is uploaded before this is said; said to hubs of 1.3 and later. */
  z.object({ kind: z.literal('checkpoint'), fence: Fence, at, checkpoint: Checkpoint }),
  z.object({ kind: z.literal('declined'), fence: Fence, at, reason: z.string() }),
  z.object({
    kind: z.literal('ended'),
    fence: Fence,
    at,
    outcome: z.enum(['completed', 'failed', 'canceled', 'timed_out', 'lost']),
    startedAt: at.nullable(),
    exitCode: z.int().nullable(),
    signal: z.string().nullable(),
    error: z.string().nullable(),
    note: z.string().nullable(),
    result: z.json().nullable(),
    usage: Usage.nullable(),
    /** What the outputs patterns found: every one of them is uploaded before this is said. */
    artifacts: z.array(ArtifactEntry).optional(),
  }),
])
export type AttemptReport = Readonly<z.infer<typeof AttemptReport>>
export type EndedReport = Extract<AttemptReport, { kind: 'ended' }>

/** A piece of a program's output; its bytes follow the header in the same frame, in the order of the list. */
export const Chunk = z.object({
  fence: Fence,
  stream: z.enum(['stdout', 'stderr']),
  offset: count,
  length: count,
  at,
})
export type Chunk = Readonly<z.infer<typeof Chunk>>

export const Holding = z.object({
  fence: Fence,
  state: z.enum(['starting', 'running', 'stopping', 'ended']),
  startedAt: at.nullable(),
})
export type Holding = Readonly<z.infer<typeof Holding>>

/** First words of a worker on every connection. */
export const Hello = z.object({
  t: z.literal('hello'),
  protocol: Version,
  version: z.string(),
  workerId: z.string(),
  bootId: z.string(),
  name: z.string(),
  tags: z.array(z.string()),
  maxJobs: count,
  cpus: z.number().min(0).max(MAX_CPUS),
  memoryBytes: count,
  window: count,
  hardware: Hardware,
  abilities: Abilities,
  epochSeen: count,
  /** The lowest batch number the worker may still send: all before it were acknowledged. */
  nextBatch: count,
  holding: z.array(Holding),
  draining: z.boolean(),
  devices: z.array(DeviceNews).optional(),
})
export type Hello = Readonly<z.infer<typeof Hello>>

export const Report = z.object({
  t: z.literal('report'),
  n: count,
  reports: z.array(AttemptReport),
  chunks: z.array(Chunk),
})
export type Report = Readonly<z.infer<typeof Report>>

/** Any message renews the worker's leases; this one does nothing else. */
export const Beat = z.object({ t: z.literal('beat') })

export const LiveAttempt = z.object({
  fence: Fence,
  progress: Progress.nullable(),
  cpus: z.number().nullable(),
  memoryBytes: z.number().nullable(),
  pids: z.number().optional(),
  /** Of a session: its program said that it is ready, or has finished a task. */
  ready: z.boolean().optional(),
})
export type LiveAttempt = Readonly<z.infer<typeof LiveAttempt>>

/** What is worth seeing now and not worth keeping. */
export const Live = z.object({
  t: z.literal('live'),
  at,
  host: HostSample.nullable(),
  gpus: z.array(GpuSample),
  attempts: z.array(LiveAttempt),
  /** Output that was sent and not yet acknowledged; absent in messages that tell progress only. */
  spoolBytes: count.optional(),
  /** Left out when nobody looked; of a device that is not named there is no news. */
  devices: z.array(DeviceNews).optional(),
})
export type Live = Readonly<z.infer<typeof Live>>

/** What the worker can do has changed since its hello, such as the images it has; said to hubs of 1.2 and later. */
export const NewAbilities = z.object({ t: z.literal('abilities'), abilities: Abilities })

/** The worker leaves: what it holds is over, nothing needs to be waited for. */
export const Goodbye = z.object({ t: z.literal('goodbye'), reason: z.string() })

export const WorkerMessage = z.discriminatedUnion('t', [Hello, Report, Beat, Live, NewAbilities, Goodbye])
export type WorkerMessage = Readonly<z.infer<typeof WorkerMessage>>

export const Welcome = z.object({
  t: z.literal('welcome'),
  protocol: Version,
  version: z.string(),
  epoch: count,
  ackedBatch: count,
  creditBytes: count,
  beatMs: count,
  liveMs: count,
  stale: z.array(Fence),
  draining: z.boolean(),
})
export type Welcome = Readonly<z.infer<typeof Welcome>>

export const Refuse = z.object({ t: z.literal('refuse'), code: z.string(), message: z.string(), final: z.boolean() })

export const Offer = z.object({
  fence: Fence,
  id: z.string(),
  spec: JobSpec,
  gpus: z.array(z.string()),
  /** Of a task: the session that takes it. */
  session: Fence.optional(),
  /** What an earlier attempt left to go on from. */
  resume: Checkpoint.optional(),
  /** Present when the spec names secrets; never written down by either side. */
  secrets: OfferedSecrets.optional(),
})
export type Offer = Readonly<z.infer<typeof Offer>>

/** Offers may share specs: a number in place of a spec is its place among `specs`. */
export const Offers = z
  .object({
    t: z.literal('offers'),
    specs: z.array(SentSpec).optional(),
    offers: z.array(Offer.extend({ spec: z.union([z.int().min(0), JobSpec]) })),
  })
  .refine(({ specs = [], offers }) => offers.every(({ spec }) => typeof spec !== 'number' || spec < specs.length))
export type Offers = Readonly<z.infer<typeof Offers>>

/** All batches up to n are durable: the worker forgets them. */
export const Ack = z.object({ t: z.literal('ack'), n: count })

/** `session`: it is asked to leave (end of its input, then a grace), for the reason in `by`. */
export const Stop = z.object({
  fence: Fence,
  cause: z.enum(['canceled', 'stale', 'session']),
  by: z.string().nullable(),
})
export type Stop = Readonly<z.infer<typeof Stop>>

export const Stops = z.object({ t: z.literal('stops'), stops: z.array(Stop) })
export const Drain = z.object({ t: z.literal('drain'), on: z.boolean() })

export const HubMessage = z.discriminatedUnion('t', [Welcome, Refuse, Offers, Ack, Stops, Drain])
export type HubMessage = Readonly<z.infer<typeof HubMessage>>

/** While an attempt lives its key is asked for a dozen times: making it anew costs more than remembering the last ones. */
const KEYS_REMEMBERED = 256
const rememberedKeys: (readonly [fence: Fence, key: string])[] = []

export function fenceKey(fence: Fence): string {
  const place = fence.job % KEYS_REMEMBERED
  const known = rememberedKeys[place]
  if (known !== undefined && sameFence(known[0], fence)) return known[1]
  const { job, epoch, attempt } = fence
  const key = `${job}-${epoch}-${attempt}`
  rememberedKeys[place] = [{ job, epoch, attempt }, key]
  return key
}

export function sameFence(a: Fence, b: Fence): boolean {
  return a.job === b.job && a.epoch === b.epoch && a.attempt === b.attempt
}
