import { z } from 'zod'
import { SecretName } from '../secret.ts'

/** A secret as lists show it: everything but its value, which never leaves the hub this way. */
export const Secret = z.object({
  name: SecretName,
  owner: z.string(),
  bytes: z.int(),
  createdAt: z.iso.datetime(),
  changedAt: z.iso.datetime(),
})
export type Secret = z.infer<typeof Secret>

export const NewSecret = z.strictObject({
  value: z.string().min(1, 'a secret has at least one byte'),
  encoding: z.enum(['utf8', 'base64']).optional(),
})
export type NewSecret = z.infer<typeof NewSecret>

export const SecretList = z.object({ secrets: z.array(Secret), next: z.string().nullable() })
export type SecretList = z.infer<typeof SecretList>

export const KeyRotated = z.object({ key: z.string(), resealed: z.int() })
export type KeyRotated = z.infer<typeof KeyRotated>
