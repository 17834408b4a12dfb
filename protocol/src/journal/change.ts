import { z } from 'zod'
import { Role } from '../api/tokens.ts'
import { Outcome } from '../life.ts'
import { Abilities, Hardware, Usage } from '../machine.ts'
import { Shape, Terms } from './shape.ts'

/** Bumped when a stored change can no longer be read by the version before it. */
export const JOURNAL_VERSION = 1

const job = z.number()
const at = z.number()
const fenced = { job, epoch: z.number(), attempt: z.number() }

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
  }),
  z.object({ c: z.literal('bucketDropped'), id: z.number() }),
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
      }),
    ),
    key: z.object({ key: z.string(), hash: z.string() }).nullable(),
  }),
  z.object({ c: z.literal('placed'), ...fenced, worker: z.string(), gpus: z.array(z.string()), at }),
  z.object({ c: z.literal('starting'), job, at }),
  z.object({ c: z.literal('running'), job, at, isolation: z.enum(['inline', 'none', 'sandbox']) }),
  /** Someone asked for the end of an active job; the attempt is stopping. */
  z.object({ c: z.literal('stopRequested'), job, by: z.string(), at }),
  /** The attempt's end and the job's next state are one fact. */
  z.object({
    c: z.literal('attemptEnded'),
    ...fenced,
    outcome: Outcome,
    at,
    startedAt: z.number().nullable(),
    exitCode: z.number().nullable(),
    signal: z.string().nullable(),
    error: z.string().nullable(),
    note: z.string().nullable(),
    usage: Usage.nullable(),
    result: z.json().nullable(),
    next: z.enum(['queued', 'waiting', 'succeeded', 'failed', 'canceled', 'timed_out']),
    dueAt: z.number().nullable(),
    failures: z.number(),
    lost: z.number(),
    reason: z.string().nullable(),
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
  }),
  z.object({ c: z.literal('workerDrained'), id: z.string(), on: z.boolean(), at }),
  z.object({ c: z.literal('workerRemoved'), id: z.string(), at }),
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
])
export type Change = Readonly<z.infer<typeof Change>>
export type ChangeOf<C extends Change['c']> = Extract<Change, { c: C }>

/** One journal row: all changes of one commit. */
export const JournalBody = z.object({ v: z.number(), epoch: z.number(), changes: z.array(Change) })
export type JournalBody = Readonly<z.infer<typeof JournalBody>>
