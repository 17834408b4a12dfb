import { z } from 'zod'
import { OwnerLimits } from '../api/owners.ts'
import { CatchUp, FireOutcome, Overlap } from '../api/schedules.ts'
import { Role } from '../api/tokens.ts'
import { Checkpoint } from '../checkpoint.ts'
import { DependencyKind } from '../dependency.ts'
import { Outcome, TERMINAL_STATES } from '../life.ts'
import { Abilities, Hardware, RUN_ISOLATIONS, Usage } from '../machine.ts'
import { Shape, Terms } from './shape.ts'

/** Bumped when a stored change can no longer be read by the version before it. */
export const JOURNAL_VERSION = 1

const job = z.number()
const at = z.number()
const fenced = { job, epoch: z.number(), attempt: z.number() }

const Dialect = z.object({ name: z.string(), quietMs: z.number() })

/** Everything that can ever happen, as facts in the past tense. Tolerant when read back: unknown keys are ignored. */
export const Change = z.discriminatedUnion('c', [
  /** A hub started or took over. */
  z.object({ c: z.literal('epoch'), epoch: z.number(), at }),
  z.object({
    c: z.literal('bucket'),
    id: z.number(),
    owner: z.string(),
    priority: z.number(),
    shape: Shape,
    terms: Terms,
    /** Members of a group have buckets of their own. */
    groupId: z.string().optional(),
  }),
  z.object({ c: z.literal('bucketDropped'), id: z.number() }),
  /** The jobs from `firstSeq` on, which are submitted in the same commit, belong together. */
  z.object({
    c: z.literal('group'),
    id: z.string(),
    owner: z.string(),
    name: z.string(),
    firstSeq: z.number(),
    size: z.number(),
    maxParallel: z.number().nullable(),
    retryOf: z.string().nullable(),
    at,
  }),
  /** Jobs were accepted; their specs are in the job rows only. */
  z.object({
    c: z.literal('submitted'),
    owner: z.string(),
    at,
    jobs: z.array(
      z.object({
        seq: z.number(),
        id: z.string(),
        bucket: z.number(),
        name: z.string(),
        type: z.string(),
        retryOf: z.string().nullable().optional(),
        /** Only what was not met yet; with it, or held, the job begins as waiting. */
        dependsOn: z.array(z.object({ seq: z.number(), id: z.string(), on: DependencyKind })).optional(),
        heldBy: z.string().optional(),
      }),
    ),
    key: z.object({ key: z.string(), hash: z.string() }).nullable(),
  }),
  z.object({
    c: z.literal('placed'),
    ...fenced,
    worker: z.string(),
    gpus: z.array(z.string()),
    at,
    /** The session's job, when a task takes one of its places. */
    session: z.number().optional(),
  }),
  z.object({ c: z.literal('starting'), job, at }),
  /** Null: its worker holds it as running, and has not said how. */
  z.object({
    c: z.literal('running'),
    job,
    at,
    isolation: z.enum(RUN_ISOLATIONS).nullable(),
    containerId: z.string().optional(),
  }),
  /** Someone asked for the end of an active job; the attempt is stopping. */
  z.object({
    c: z.literal('stopRequested'),
    job,
    by: z.string(),
    at,
    /** It is a session and is only asked to leave, for the reason in `by`: that is no failure and no cancel. */
    endsSession: z.literal(true).optional(),
  }),
  /** The attempt's end and the job's next state are one fact. */
  z.object({
    c: z.literal('attemptEnded'),
    ...fenced,
    outcome: Outcome,
    at,
    startedAt: z.number().nullable(),
    exitCode: z.number().nullable(),
    next: z.enum(['queued', 'waiting', 'succeeded', 'failed', 'canceled', 'timed_out']),
    failures: z.number(),
    lost: z.number(),
    /** Most ends have few of these, and what an end does not have is not written; journals of earlier hubs say null. */
    signal: z.string().nullish(),
    error: z.string().nullish(),
    note: z.string().nullish(),
    usage: Usage.nullish(),
    result: z.json().nullish(),
    dueAt: z.number().nullish(),
    reason: z.string().nullish(),
    /** How much the attempt left; which files is in the artifact rows only. */
    artifacts: z.object({ count: z.number(), bytes: z.number() }).optional(),
  }),
  /** The lease ran out: the job is queued again, but the attempt may still come back and holds its resources. */
  z.object({ c: z.literal('lost'), ...fenced, at, lost: z.number(), reason: z.string() }),
  z.object({ c: z.literal('resumed'), ...fenced, at }),
  /** A lost attempt is known to be over: its resources are free. */
  z.object({ c: z.literal('released'), ...fenced, worker: z.string(), at }),
  /** A job ended without a running attempt. */
  z.object({ c: z.literal('ended'), job, state: z.enum(['failed', 'canceled']), reason: z.string(), at }),
  /** Ended jobs of one owner and state are past their retention: their rows are gone. */
  z.object({
    c: z.literal('forgotten'),
    owner: z.string(),
    state: z.enum(['succeeded', 'failed', 'canceled', 'timed_out']),
    jobs: z.array(z.number()),
    at,
  }),
  /** A backoff is over. */
  z.object({ c: z.literal('due'), job, at }),
  /** A dependency ended as the job asked; without any other cause to wait the job is queued. */
  z.object({ c: z.literal('met'), job, dependency: z.number(), at }),
  z.object({ c: z.literal('held'), job, by: z.string(), at }),
  z.object({ c: z.literal('holdLifted'), job, by: z.string(), at }),
  z.object({ c: z.literal('priority'), job, bucket: z.number(), priority: z.number(), at }),
  z.object({
    c: z.literal('worker'),
    id: z.string(),
    name: z.string(),
    version: z.string(),
    owner: z.string(),
    tags: z.array(z.string()),
    maxJobs: z.number(),
    window: z.number(),
    cpusMilli: z.number(),
    memoryMb: z.number(),
    hardware: Hardware,
    abilities: Abilities,
    secretHash: z.string(),
    bootId: z.string(),
    at,
    /** It speaks through the gateway of this name, and may be silent for so long. */
    dialect: Dialect.optional(),
  }),
  /** What its gateway must remember of it, in the gateway's own words. */
  z.object({ c: z.literal('workerNoted'), id: z.string(), note: z.json(), at }),
  z.object({ c: z.literal('workerDrained'), id: z.string(), on: z.boolean(), at }),
  z.object({ c: z.literal('workerRemoved'), id: z.string(), at }),
  /** Nobody gets the device until it is released, whichever worker shows it. */
  z.object({ c: z.literal('deviceQuarantined'), uuid: z.string(), reason: z.string(), by: z.string(), at }),
  z.object({ c: z.literal('deviceReleased'), uuid: z.string(), by: z.string(), at }),
  /** All report batches of the worker up to n are in. */
  z.object({ c: z.literal('batch'), worker: z.string(), n: z.number() }),
  z.object({
    c: z.literal('token'),
    id: z.string(),
    hash: z.string(),
    role: Role,
    owner: z.string(),
    label: z.string(),
    at,
    expiresAt: z.number().nullable(),
  }),
  z.object({ c: z.literal('tokenUsed'), id: z.string(), by: z.string(), at }),
  z.object({ c: z.literal('tokenRevoked'), id: z.string(), at }),
  /** The secret is sealed: only the hub's key opens it. */
  z.object({
    c: z.literal('webhook'),
    id: z.string(),
    owner: z.string(),
    url: z.string(),
    on: z.array(z.enum(TERMINAL_STATES)),
    labels: z.record(z.string(), z.string()),
    secret: z.string(),
    at,
  }),
  z.object({ c: z.literal('webhookRemoved'), id: z.string(), at }),
  /** All null: the owner has no limits any more. */
  z.object({ c: z.literal('ownerLimits'), owner: z.string(), limits: OwnerLimits, at }),
  z.object({
    c: z.literal('schedule'),
    id: z.string(),
    owner: z.string(),
    name: z.string(),
    cron: z.string(),
    timezone: z.string(),
    overlap: Overlap,
    catchUp: CatchUp,
    enabled: z.boolean(),
    spec: z.string(),
    nextAt: z.number().nullable(),
    at,
  }),
  z.object({ c: z.literal('scheduleRemoved'), id: z.string(), at }),
  /** A due time was met, in the same commit as the jobs it submitted; `dueAt` is null when someone asked for the run. */
  z.object({
    c: z.literal('fired'),
    schedule: z.string(),
    dueAt: z.number().nullable(),
    nextAt: z.number().nullable(),
    outcome: FireOutcome,
    reason: z.string().nullable(),
    seq: z.number().nullable(),
    jobId: z.string().nullable(),
    groupId: z.string().nullable(),
    at,
  }),
  /** A secret was set or changed; its sealed value is in its row only. */
  z.object({ c: z.literal('secretSet'), owner: z.string(), name: z.string(), bytes: z.number(), at }),
  z.object({ c: z.literal('secretRemoved'), owner: z.string(), name: z.string(), at }),
  /** Someone with power is about to do something. */
  z.object({
    c: z.literal('audited'),
    id: z.string(),
    at,
    token: z.string(),
    label: z.string(),
    owner: z.string(),
    role: z.string(),
    address: z.string(),
    action: z.string(),
    target: z.string(),
    details: z.record(z.string(), z.json()),
  }),
  z.object({
    c: z.literal('checkpointed'),
    ...fenced,
    at,
    checkpoint: Checkpoint,
  }),
  z.object({ c: z.literal('auditEnded'), id: z.string(), status: z.number() }),
])
export type Change = Readonly<z.infer<typeof Change>>
export type ChangeOf<C extends Change['c']> = Extract<Change, { c: C }>

/** One journal row: all changes of one commit. */
export const JournalBody = z.object({ v: z.number(), epoch: z.number(), changes: z.array(Change) })
export type JournalBody = Readonly<z.infer<typeof JournalBody>>
