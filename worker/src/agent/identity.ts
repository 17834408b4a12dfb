import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { readJsonOr, writeAtomic } from '@stoker/files'

export interface Identity {
  readonly workerId: string
  readonly secret: string
}

/** A worker makes its id and secret first and keeps them; the hub learns only the secret's hash, so joining may be repeated after a crash. */
export async function loadIdentity(folder: string, newId: () => string): Promise<Identity> {
  const path = join(folder, 'identity.json')
  const known = (await readJsonOr(path, null)) as Identity | null
  if (known !== null && typeof known.workerId === 'string' && typeof known.secret === 'string') return known
  const fresh = { workerId: newId(), secret: `stw_${randomBytes(32).toString('base64url')}` }
  await writeAtomic(path, JSON.stringify(fresh), { mode: 0o600 })
  return fresh
}
