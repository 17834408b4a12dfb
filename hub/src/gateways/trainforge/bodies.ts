import { ArtifactEntry } from '@stoker/protocol'
import { z } from 'zod'
import { AnswerError } from './answer-error.ts'

const text = (max: number) =>
  z
    .string()
    .transform(found => found.slice(0, max).replaceAll('\0', '\uFFFD'))
    .nullish()
    .catch(null)
const code = z
  .union([
    z
      .int()
      .min(-256)
      .max(2 ** 32),
    z.null(),
  ])
  .catch(null)

export const StatusBody = z.looseObject({
  worker_id: z.unknown(),
  job_id: z.string().min(1).max(300),
  status: z.enum(['running', 'completed', 'failed', 'cancelled', 'declined']),
  exit_codes: z.array(code).max(1000).catch([]),
  duration: z.number().min(0).max(1e9).nullable().catch(null),
  reason: text(2000),
  error_message: text(10_000),
})
export type StatusBody = z.output<typeof StatusBody>

export const HeartbeatBody = z.looseObject({
  worker_id: z.unknown(),
  active_jobs: z.int().min(0).max(100_000).nullable().catch(null),
})

export const IdBody = z.looseObject({ worker_id: z.unknown() })

/** Of a claimed job: who holds it is known. */
export const ClaimedStatusBody = z.looseObject({
  status: z.enum(['running', 'completed', 'failed', 'cancelled']),
  message: text(10_000),
  error_message: text(10_000),
})

const LogLine = z.looseObject({ message: z.string().max(1_000_000) })
export const LogBody = LogLine
export const LogBatchBody = z.looseObject({ logs: z.array(LogLine).max(10_000) })

export const SettingsBody = z.strictObject({
  trust_gpus: z.boolean().optional(),
  allow_docker: z.boolean().optional(),
})

export const SeenBody = z.object({ paths: z.array(z.string().min(1).max(1024)).max(1_000_000) })
export const EndBody = z.object({
  exit_code: z.int().nullable(),
  signal: z.string().max(50).nullable(),
  ended_by: z.enum(['itself', 'cancel', 'deadline', 'leaving']),
  start_error: text(10_000),
  note: text(2000),
  output_error: text(2000),
  artifacts: z.array(ArtifactEntry).max(100_000),
})

/** The body as it was meant; else 400 with the first thing that is wrong. */
export function read<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const where = issue === undefined || issue.path.length === 0 ? 'the body' : issue.path.join('.')
  throw new AnswerError(400, `${where}: ${issue?.message ?? 'not what is allowed'}`)
}
