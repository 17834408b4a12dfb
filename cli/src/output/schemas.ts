import { Canceled, Health } from '@stoker/client'
import {
  Artifact,
  CreatedToken,
  GcReport,
  Job,
  JobDetail,
  JobPage,
  Submitted,
  TokenList,
  Worker,
  WorkerDetail,
  WorkerList,
} from '@stoker/protocol'
import { z } from 'zod'

const failures = z.array(z.object({ id: z.string(), code: z.string(), message: z.string() }))
const contexts = z.object({
  current: z.string().nullable(),
  contexts: z.array(z.object({ name: z.string(), url: z.string(), hasToken: z.boolean() })),
})
const started = { url: z.string(), epoch: z.int(), dataFolder: z.string(), tokenFile: z.string(), context: z.string() }
const joined = z.object({ id: z.string(), name: z.string() })

const fetched = z.object({
  folder: z.string(),
  files: z.array(
    z.object({ path: z.string(), file: z.string(), size: z.int(), how: z.enum(['written', 'same', 'beside']) }),
  ),
})

/** The published form of what each command prints with --json; keys are added, never renamed or removed. */
export const OUTPUT_SCHEMAS = {
  up: z.object({ ...started, worker: joined }),
  hub: z.object(started),
  worker: joined.extend({ hub: z.string() }),
  run: z.object({
    id: z.uuid(),
    exitCode: z.int().nullable(),
    job: Job.nullable(),
    outputs: fetched.nullable().optional(),
  }),
  submit: Submitted,
  list: JobPage,
  show: JobDetail,
  logs: z.object({ id: z.uuid(), text: z.string() }),
  'artifacts list': z.object({ artifacts: z.array(Artifact), bytes: z.int() }),
  'artifacts get': fetched,
  wait: z.object({ jobs: z.array(Job) }),
  cancel: z.object({ canceled: z.array(Canceled), failures }),
  retry: z.object({
    jobs: z.array(z.object({ id: z.uuid(), unschedulable: z.string().nullable(), retryOf: z.string() })),
    failures,
  }),
  workers: z.union([WorkerList, WorkerDetail]),
  drain: Worker,
  resume: Worker,
  gc: GcReport,
  'token create': CreatedToken,
  'token list': TokenList,
  'token revoke': z.object({ revoked: z.string() }),
  'context list': contexts,
  'context use': contexts,
  'context add': contexts,
  'context remove': contexts,
  version: z.object({ version: z.string(), node: z.string(), hub: Health.nullable() }),
  error: z.object({
    error: z.object({ code: z.string(), message: z.string(), exitCode: z.int(), details: z.array(z.string()) }),
  }),
} as const satisfies Readonly<Record<string, z.ZodType>>

export type OutputName = keyof typeof OUTPUT_SCHEMAS
export type OutputOf<Name extends OutputName> = z.input<(typeof OUTPUT_SCHEMAS)[Name]>
