import type { EngineLoop } from '../engine/loop.ts'

/** Whose tasks the caller may see and end: all for an admin, otherwise the owner's. */
export interface TokenHolder {
  readonly owner: string
  readonly isAdmin: boolean
}

/** Who holds the token with this hash; null when it is unknown, has expired, or may not submit. */
export async function tokenHolder(
  engine: Pick<EngineLoop, 'read'>,
  hash: string,
  now: number,
): Promise<TokenHolder | null> {
  const token = await engine.read(({ tokens, tokenByHash }) => tokens.get(tokenByHash.get(hash) ?? ''))
  if (token === undefined || (token.role !== 'admin' && token.role !== 'submit')) return null
  if (token.expiresAt !== null && token.expiresAt <= now) return null
  return { owner: token.owner, isAdmin: token.role === 'admin' }
}
