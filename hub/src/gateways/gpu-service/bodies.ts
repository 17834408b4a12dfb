import { DIFFICULTIES } from '@stoker/protocol'
import { z } from 'zod'
import { type BodyIssue, invalidRequest } from './answer-error.ts'

const text = z.string().min(1).max(400)
const Metadata = z.record(z.string(), z.json())
/** The documented limits; a hub whose own maximum is longer allows that. */
const SHORTEST_SECONDS = 10
const LONGEST_SECONDS = 1800
const CUSTOM_SECONDS = { least: 60, most: 86_400, byDefault: 3600 }

/** What every request for a task may say beyond the old service's words. */
const manner = {
  /** Stay in the queue when no GPU is free, instead of an answer 503. */
  wait: z.boolean().default(false),
  on_disconnect: z.enum(['continue', 'cancel']).default('continue'),
}

/** A null is how some clients leave a field out. */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform(value => value ?? undefined)
}

function seconds(maxTimeoutMs: number) {
  return z
    .int()
    .min(SHORTEST_SECONDS)
    .max(Math.max(LONGEST_SECONDS, Math.floor(maxTimeoutMs / 1000)))
}

/** By the names of the model and its preset. */
export function submitBody(maxTimeoutMs: number) {
  return z.object({
    task_type: z.enum(['oneoff', 'session']),
    task_difficulty: z.enum(DIFFICULTIES),
    model_id: text,
    task_preset: text,
    session_id: optional(text),
    create_session: z.boolean().default(false),
    metadata: Metadata.default({}),
    timeout_seconds: optional(seconds(maxTimeoutMs)),
    ...manner,
  })
}
export type SubmitBody = z.output<ReturnType<typeof submitBody>>

/** By the name of a task definition. */
export function predefinedBody(maxTimeoutMs: number) {
  return z.object({
    task_name: text,
    task_difficulty: optional(z.enum(DIFFICULTIES)),
    timeout_seconds: optional(seconds(maxTimeoutMs)),
    metadata: Metadata.default({}),
    session_id: optional(text),
    create_session: z.boolean().default(false),
    ...manner,
  })
}
export type PredefinedBody = z.output<ReturnType<typeof predefinedBody>>

export const CustomBody = z.object({
  job_type: z.enum(['inference', 'training', 'preprocessing', 'custom']),
  docker_image: text,
  command: z.array(z.string()).default([]),
  env_vars: z.record(z.string(), z.string()).default({}),
  timeout_seconds: z.int().min(CUSTOM_SECONDS.least).max(CUSTOM_SECONDS.most).default(CUSTOM_SECONDS.byDefault),
  priority: z.int().min(1).max(10).default(5),
  model_id: optional(text),
  volume_mounts: z.record(z.string(), z.string()).default({}),
  task_difficulty: z.enum(DIFFICULTIES).default('low'),
  metadata: Metadata.default({}),
  ...manner,
})
export type CustomBody = z.output<typeof CustomBody>

/** Everything wrong is told in one go, each with its place. */
export function readBody<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body ?? undefined)
  if (parsed.success) return parsed.data
  throw invalidRequest(parsed.error.issues.map(issue => issueOf(issue, body)))
}

function issueOf(issue: z.core.$ZodIssue, body: unknown): BodyIssue {
  const path = issue.path.map(part => (typeof part === 'symbol' ? String(part) : part))
  const isMissing = issue.code === 'invalid_type' && valueAt(body, path) === undefined
  return {
    type: isMissing ? 'missing' : issue.code,
    loc: ['body', ...path],
    msg: isMissing ? 'Field required' : issue.message,
  }
}

function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Record<string | number, unknown>)[key] : undefined),
    value,
  )
}
