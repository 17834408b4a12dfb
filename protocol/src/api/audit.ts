import { z } from 'zod'

/** One deed of someone with power, written down before it was done; `status` is null while it is being done, or if the hub died meanwhile. */
export const AuditEntry = z.object({
  id: z.uuid(),
  at: z.iso.datetime(),
  by: z.object({ tokenId: z.string(), label: z.string(), owner: z.string(), role: z.string() }),
  from: z.string(),
  action: z.string(),
  target: z.string(),
  details: z.record(z.string(), z.json()),
  status: z.int().nullable(),
})
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditPage = z.object({ entries: z.array(AuditEntry), next: z.string().nullable() })
export type AuditPage = z.infer<typeof AuditPage>
