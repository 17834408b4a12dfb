import { z } from 'zod'
import { QubixError } from './answers.ts'
import { storable } from './storable.ts'

/** Far beyond any machine: larger figures are no measurements. */
const MOST_CORES = 100_000
const MOST_GB = 10_000_000

const figure = (most: number) => z.number().min(0).max(most).nullable().catch(null)
const words = (most: number) =>
  z
    .string()
    .transform(text =>
      storable(text, most)
        .replace(/\p{Cc}/gu, ' ')
        .trim(),
    )
    .nullish()
    .catch(null)
/** It is pasted into paths as it is. */
const Id = z.string().regex(/^[\x21-\x7e]{1,200}$/, 'an id has 1 to 200 characters, none of them blank')
const Loose = z.record(z.string(), z.unknown()).catch({})

/** What a machine has, as its worker says; anything unreadable is unknown, and no reason to turn it away. */
const Specs = z.object({
  worker_id: Id.optional().catch(undefined),
  hostname: words(200),
  os: words(200),
  cpu_model: words(200),
  cpu_cores: figure(MOST_CORES),
  ram_total_gb: figure(MOST_GB),
  gpu_available: z.boolean().catch(false),
  gpu_model: words(200),
  gpu_vram_gb: figure(MOST_GB),
  storage_total_gb: figure(MOST_GB),
  storage_free_gb: figure(MOST_GB),
})

const Gpu = z.object({ index: z.int().min(0).max(1000), model: z.string().max(200), vram_gb: figure(MOST_GB) })

export const RegisterBody = z.object({
  worker_id: Id.optional(),
  workerId: Id.optional(),
  name: words(100),
  address: words(200),
  location: words(80),
  computePower: z.number().optional(),
  pricePerHour: z.number().min(0).optional(),
  specs: Specs.optional(),
  /** Said by our own workers only: types they really run, and all their devices. */
  capabilities: z.array(z.string().max(100)).max(100).optional().catch(undefined),
  gpus: z.array(Gpu).max(64).optional().catch(undefined),
})
export type RegisterBody = z.infer<typeof RegisterBody>

export const HeartbeatBody = z.object({
  workerId: Id.optional(),
  worker_id: Id.optional(),
  status: z.string().nullish().catch(null),
  currentJob: z.string().nullish().catch(null),
  current_job: z.string().nullish().catch(null),
  usage: Loose.nullish(),
})
export type HeartbeatBody = z.infer<typeof HeartbeatBody>

const LogLine = z.union([z.string(), z.looseObject({ level: z.string().nullish(), message: z.string() })])

export const ProgressBody = z.object({
  workerId: Id.optional(),
  worker_id: Id.optional(),
  progress: z.number(),
  currentOperation: words(500),
  metrics: Loose.nullish(),
  logLines: z.array(LogLine).max(1000).nullish().catch(null),
})
export type ProgressBody = z.infer<typeof ProgressBody>

export const CompleteBody = z.object({
  workerId: Id.optional(),
  worker_id: Id.optional(),
  status: z.enum(['completed', 'failed']),
  result: z.unknown().optional(),
  result_url: z.unknown().optional(),
  error: z.string().nullish().catch(null),
  metrics: Loose.nullish(),
})
export type CompleteBody = z.infer<typeof CompleteBody>

/** Anything wrong is told with its place. */
export function readBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.join('.') ?? ''
  throw new QubixError(400, `${path === '' ? 'the body' : path}: ${issue?.message ?? 'is not readable'}`)
}

export function readPathId(id: string): string {
  return readBody(Id, id)
}

/** Both spellings are one field; who says both must mean the same. */
export function workerIdIn(body: {
  readonly workerId?: string | undefined
  readonly worker_id?: string | undefined
}): string {
  const { workerId, worker_id } = body
  if (workerId !== undefined && worker_id !== undefined && workerId !== worker_id)
    throw new QubixError(400, `workerId is ${workerId}, worker_id is ${worker_id}`)
  const id = workerId ?? worker_id
  if (id === undefined) throw new QubixError(400, 'workerId: missing; who speaks must be said')
  return id
}
