import { z } from 'zod'

/** What a token may do; `admin` may do everything, `worker` lets workers of other protocols in, `join` lets one worker register once. */
export const Role = z.enum(['admin', 'submit', 'read', 'worker', 'join'])
export type Role = z.infer<typeof Role>

export const Token = z.object({
  id: z.string(),
  role: Role,
  owner: z.string(),
  label: z.string(),
  createdAt: z.iso.datetime(),
  expiresAt: z.iso.datetime().nullable(),
  usedBy: z.string().nullable(),
})
export type Token = z.infer<typeof Token>

export const OwnerName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/, 'an owner name has lower-case letters, digits, ".", "_" and "-"')

export const NewToken = z.strictObject({
  role: z.enum(['admin', 'submit', 'read', 'join', 'worker']),
  owner: OwnerName.optional(),
  label: z.string().max(200).optional(),
  expiresInSeconds: z.int().min(1).max(315_360_000).optional(),
})
export type NewToken = z.infer<typeof NewToken>

/** The only time the secret is shown. */
export const CreatedToken = Token.extend({ secret: z.string() })
export type CreatedToken = z.infer<typeof CreatedToken>

export const TokenList = z.object({ tokens: z.array(Token) })
export type TokenList = z.infer<typeof TokenList>
