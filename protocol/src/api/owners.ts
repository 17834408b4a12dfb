import { z } from 'zod'
import { JobCounts } from './jobs.ts'

const most = z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable()

/** Null is no limit. `queued` counts waiting jobs too; `bytes` is stored content. */
export const OwnerLimits = z.object({ queued: most, running: most, gpus: most, bytes: most })
export type OwnerLimits = Readonly<z.infer<typeof OwnerLimits>>

export const NO_LIMITS: OwnerLimits = { queued: null, running: null, gpus: null, bytes: null }

/** What is left out is no limit. */
export const NewOwnerLimits = z.strictObject({
  queued: most.default(null),
  running: most.default(null),
  gpus: most.default(null),
  bytes: most.default(null),
})

/** What an owner has: jobs by state, and what running attempts hold, those included whose worker is silent, and what is stored. */
export const Owner = z.object({
  owner: z.string(),
  counts: JobCounts,
  running: z.int(),
  gpus: z.int(),
  /** Stored content. */
  bytes: z.int().default(0),
  limits: OwnerLimits,
})
export type Owner = z.infer<typeof Owner>

export const OwnerPage = z.object({ owners: z.array(Owner), next: z.string().nullable() })
export type OwnerPage = z.infer<typeof OwnerPage>
