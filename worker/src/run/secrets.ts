import { statfs } from 'node:fs/promises'
import { type Offer, SHORTEST_HIDDEN_BYTES } from '@stoker/protocol'
import type { LaunchOrder, LaunchSecrets } from '../executors/port.ts'

/** File systems that are memory: tmpfs and ramfs, as statfs names them. */
const IN_MEMORY: readonly number[] = [0x01021994, 0x858458f6]
const PLACES: readonly string[] = ['/dev/shm', '/run/shm', '/run']

export interface AttemptSecrets {
  readonly env: Readonly<Record<string, string>>
  readonly launch: LaunchSecrets | null
}

/** Why an attempt cannot have its secrets; `final` when no other worker could help. */
export class SecretsWithheld extends Error {
  readonly final: boolean

  constructor(reason: string, final: boolean) {
    super(reason)
    this.final = final
  }
}

/** The values of an offer, sorted by where they go. A worker that restarts never needs them again: the program has them. */
export async function attemptSecrets(
  { spec, secrets }: Offer,
  isolation: LaunchOrder['isolation'],
  places: readonly string[] = PLACES,
): Promise<AttemptSecrets> {
  if (spec.secrets.length === 0) return { env: {}, launch: null }
  if (secrets === undefined) throw new SecretsWithheld('the hub offered the job without the secrets it names', false)
  if ('withheld' in secrets) throw new SecretsWithheld(secrets.withheld, secrets.final)
  const { given } = secrets
  const files = given.filter(({ env }) => env === null).map(({ name, value }) => ({ name, value }))
  const memoryFolder = isolation !== 'sandbox' && files.length > 0 ? await folderInMemory(places) : null
  const env = Object.fromEntries(
    given.flatMap(({ name, env, value }) => (env === null ? [] : [[env, text(name, value)]])),
  )
  const hidden = given
    .filter(({ value }) => Buffer.byteLength(value, 'base64') >= SHORTEST_HIDDEN_BYTES)
    .map(({ name, value }) => ({ name, value }))
  return { env, launch: { files, hidden, memoryFolder } }
}

/** An offer as it may be written down. */
export function withoutSecrets({ secrets: _, ...offer }: Offer): Offer {
  return offer
}

async function folderInMemory(places: readonly string[]): Promise<string> {
  for (const place of places) {
    const found = await statfs(place).catch(() => null)
    if (found !== null && IN_MEMORY.includes(found.type)) return place
  }
  throw new SecretsWithheld(
    `secrets are never written to a disk, and none of ${places.join(', ')} is in memory on this worker`,
    false,
  )
}

function text(name: string, value: string): string {
  const bytes = Buffer.from(value, 'base64')
  if (bytes.includes(0))
    throw new SecretsWithheld(`secret ${name} holds a NUL byte: it can be a file, but no variable`, true)
  return bytes.toString()
}
