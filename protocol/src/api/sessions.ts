import { z } from 'zod'
import { SessionEnd } from '../session-spec.ts'
import { JobSpecInput } from '../spec-input.ts'

const time = z.iso.datetime()

/** initializing: not running, or not ready for tasks. waiting: ready, without a task. working: with tasks. ended: see the reason. */
export const SessionPhase = z.enum(['initializing', 'waiting', 'working', 'ended'])
export type SessionPhase = z.infer<typeof SessionPhase>

/** A job whose program stays alive and takes tasks, as people see it. */
export const SessionView = z.object({
  id: z.uuid(),
  name: z.string(),
  state: SessionPhase,
  /** How it ended, or how it was asked to. */
  reason: SessionEnd.nullable(),
  owner: z.string(),
  preset: z.string().nullable(),
  worker: z.object({ id: z.string(), name: z.string() }).nullable(),
  gpus: z.array(z.string()),
  concurrency: z.int(),
  /** The tasks in its places. */
  working: z.array(z.uuid()),
  /** Tasks that wait for it, or for any session of its preset. */
  queued: z.int(),
  /** How many may wait for it. */
  queue: z.int(),
  createdAt: time,
  /** Since when this hub knows that it is ready. */
  readyAt: time.nullable(),
  lastActivityAt: time.nullable(),
  endedAt: time.nullable(),
  idleTimeoutSeconds: z.number(),
  maxLifetimeSeconds: z.number(),
  restarts: z.int(),
  attempts: z.int(),
})
export type SessionView = z.infer<typeof SessionView>

export const SessionPage = z.object({ sessions: z.array(SessionView), next: z.string().nullable() })
export type SessionPage = z.infer<typeof SessionPage>

/** A spec of a job; `session` may be left out for the defaults. With only a preset, that says everything. */
export const NewSession = JobSpecInput.omit({ task: true, dependsOn: true })
export type NewSession = z.input<typeof NewSession>

/** What a task brings; all else it has from its session. */
export const NewTask = JobSpecInput.pick({ input: true, timeout: true, name: true, priority: true, labels: true })
export type NewTask = z.input<typeof NewTask>

export const SessionEnded = z.object({ effect: z.enum(['stopping', 'ended']), session: SessionView })
export type SessionEnded = z.infer<typeof SessionEnded>
