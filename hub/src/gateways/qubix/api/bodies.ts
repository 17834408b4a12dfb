import { z } from 'zod'
import { SORTS } from './formulas/ranking.ts'

/** A null is how many clients leave a field out. */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform(value => value ?? undefined)
}

const word = z.string().trim().min(1).max(200)
const amount = z.number().min(0).max(1e12)
const gigabytes = z.number().min(0).max(1e6)
const InputData = z.record(z.string(), z.json())

/** What an earlier analysis found, or what a client knows better. */
const JobAnalysis = z.object({
  jobType: optional(word),
  detectedFramework: optional(z.enum(['pytorch', 'tensorflow', 'jax', 'none'])),
  estimatedVRAM: optional(gigabytes),
  estimatedCompute: optional(gigabytes),
  estimatedRAM: optional(gigabytes),
  estimatedStorage: optional(gigabytes),
})
export type JobAnalysis = z.output<typeof JobAnalysis>

const AdvancedConfig = z.strictObject({
  environmentVars: optional(z.record(z.string(), z.string())),
  dockerImage: optional(word),
  entryPoint: optional(z.string().min(1).max(64_000)),
  /** Hours. */
  maxDuration: optional(z.number().positive().max(8760)),
  /** Results stay with the hub, which is what `local` means. */
  outputDestination: optional(z.literal('local')),
  gpus: optional(z.int().min(0).max(64)),
  allowUnverified: optional(z.boolean()),
})

const asked = {
  modelType: word,
  /** Hours. */
  computeNeeded: z.number().positive().max(1e6),
  providerId: optional(word),
  maxPrice: optional(amount),
  userId: optional(word),
}

export const CreateBody = z.object({
  ...asked,
  inputData: optional(InputData),
  qubicAddress: optional(word),
  escrowTxHash: optional(word),
  jobAnalysis: optional(JobAnalysis),
  advancedConfig: optional(AdvancedConfig),
})
export type CreateBody = z.output<typeof CreateBody>

export const SubmitBody = z.object({
  ...asked,
  dataset: optional(z.json()),
  inputData: optional(InputData),
  budget: optional(amount),
})

export const EstimateBody = z.object({
  modelType: word,
  computeNeeded: optional(asked.computeNeeded),
  inputData: optional(InputData),
  providerId: optional(word),
  gpuModel: optional(word),
  maxPrice: optional(amount),
})

export const MatchBody = z.object({
  jobType: optional(word),
  modelType: optional(word),
  jobAnalysis: optional(JobAnalysis),
  jobRequirements: optional(JobAnalysis),
  requirements: optional(JobAnalysis),
  inputData: optional(InputData),
  advancedConfig: optional(AdvancedConfig),
  maxPrice: optional(amount),
  sortBy: z.enum(SORTS).default('cost_benefit'),
})

const figure = z.coerce.number().min(0).max(1e12).optional()
const AVAILABILITIES = ['all', 'available', 'busy', 'online', 'offline'] as const

export const ProvidersQuery = z.object({
  gpuModel: word.optional(),
  minVram: figure,
  maxVram: figure,
  minPrice: figure,
  maxPrice: figure,
  location: word.optional(),
  availability: z.enum(AVAILABILITIES).default('all'),
  details: z.enum(['true', 'false']).optional(),
})
export type ProvidersQuery = z.output<typeof ProvidersQuery>

export const MetricsQuery = z.object({ timeRange: z.coerce.number().int().min(1).max(3600).default(60) })

export const LogsQuery = z.object({
  level: z
    .enum(['debug', 'info', 'warning', 'warn', 'error'])
    .transform(level => (level === 'warn' ? 'warning' : level))
    .optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  offset: z.coerce.number().int().min(0).max(1e9).optional(),
})
