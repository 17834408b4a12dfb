import { z } from 'zod'
import { type JobType, startsProgram } from './job-types.ts'
import { duration } from './quantity-input.ts'
import type { SpecIssue } from './spec-issues.ts'
import { text } from './spec-text.ts'

const IDLE_MS = 300_000
const LIFETIME_MS = 3_600_000
const QUEUE = 5
const YEAR_DAYS = 365
const DAY_MS = 86_400_000

/** Makes a job a session: its program stays alive and takes tasks, `concurrency` of them at once. */
export const SessionInput = z.strictObject({
  concurrency: z.int().min(1).max(1000).optional(),
  queue: z.int().min(0).max(1_000_000).optional(),
  idleTimeout: duration('idleTimeout', YEAR_DAYS * DAY_MS).optional(),
  maxLifetime: duration('maxLifetime', YEAR_DAYS * DAY_MS).optional(),
  restarts: z.int().min(0).max(100).optional(),
})

/** As kept. Waiting without a task for `idleMs`, or alive for `lifetimeMs`, it is ended. */
export const Session = z.object({
  concurrency: z.number().default(1),
  /** Tasks that may wait for it. */
  queue: z.number().default(QUEUE),
  idleMs: z.number().default(IDLE_MS),
  lifetimeMs: z.number().default(LIFETIME_MS),
})
export type Session = Readonly<z.infer<typeof Session>>

/** Why a session ended, for people. */
export const SESSION_ENDS = [
  'idle_timeout',
  'max_lifetime',
  'manual',
  'evicted',
  'shutdown',
  'preset_changed',
  'worker_exited',
  'error',
] as const
export const SessionEnd = z.enum(SESSION_ENDS)
export type SessionEnd = z.infer<typeof SessionEnd>

/** What the end of a session's job says about the session. */
export function sessionEnd(state: string, reason: string | null): SessionEnd {
  const said = SESSION_ENDS.find(end => end === reason)
  if (said !== undefined) return said
  if (state === 'canceled') return 'manual'
  return state === 'succeeded' ? 'worker_exited' : 'error'
}

/** Makes a job a task of a session: of a certain one, or of any that was made from a preset. */
export const TaskInput = z.union([z.strictObject({ session: text(200) }), z.strictObject({ preset: text(400) })])

export const Task = z.object({
  session: z.string().nullable().default(null),
  preset: z.string().nullable().default(null),
})
export type Task = Readonly<z.infer<typeof Task>>

export function sessionOf({ concurrency, queue, idleTimeout, maxLifetime }: z.output<typeof SessionInput>): Session {
  return {
    concurrency: concurrency ?? 1,
    queue: queue ?? QUEUE,
    idleMs: idleTimeout ?? IDLE_MS,
    lifetimeMs: maxLifetime ?? LIFETIME_MS,
  }
}

export function taskOf(task: z.output<typeof TaskInput>): Task {
  return 'session' in task ? { session: task.session, preset: null } : { session: null, preset: task.preset }
}

/** What a task waits for, in one word: tasks with the same target share a bucket. */
export function taskTarget({ session, preset }: Task): string {
  return session === null ? `preset:${preset}` : `session:${session}`
}

export function checkSession(
  { session, task }: { readonly session?: unknown; readonly task?: unknown },
  type: JobType,
  issues: SpecIssue[],
): void {
  if (session !== undefined && !startsProgram(type))
    issues.push({ path: 'session', message: `found session; a job of type "${type}" starts no program to keep` })
  else if (type === 'task' && task === undefined)
    issues.push({ path: 'task', message: 'missing; type "task" needs one' })
  else if (type !== 'task' && task !== undefined)
    issues.push({ path: 'task', message: `found task; a job of type "${type}" is none` })
}
