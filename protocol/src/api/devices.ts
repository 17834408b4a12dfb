import { z } from 'zod'

/** A GPU as the hub sees it across all workers that show it. */
export const Device = z.object({
  uuid: z.string(),
  index: z.int(),
  name: z.string(),
  memoryMb: z.number(),
  simulated: z.boolean(),
  workers: z.array(z.string()),
  /** Jobs that have it, and what they take of it: all of it, or parts. */
  claims: z.int(),
  claimedMb: z.number(),
  /** Memory that programs of others use; null if no worker can tell. */
  foreignMb: z.number().nullable(),
  fault: z.string().nullable(),
  quarantine: z.object({ reason: z.string(), by: z.string(), at: z.iso.datetime() }).nullable(),
})
export type Device = z.infer<typeof Device>

export const QuarantineOrder = z.strictObject({ reason: z.string().trim().min(1).max(500) })
export type QuarantineOrder = z.infer<typeof QuarantineOrder>
