import type { Offer, OfferedSecrets } from '@stoker/protocol'
import type { EngineLoop } from '../../engine/loop.ts'
import type { Queries } from '../../store/port.ts'

/** How a worker is connected: only a private link may carry values. */
export interface LinkPrivacy {
  readonly isPrivate: boolean
  /** For the sentence that says why not. */
  readonly from: string
}

export interface SecretPorts {
  readonly engine: Pick<EngineLoop, 'read'>
  readonly queries: Pick<Queries, 'secret'>
  readonly openSecret: (owner: string, name: string, sealed: string) => Promise<Uint8Array>
}

export function needSecrets(offers: readonly Offer[]): boolean {
  return offers.some(({ spec }) => spec.secrets.length > 0)
}

/** Values are opened here, at the last moment, and live only in the offer on its way out. */
export async function withSecrets(
  offers: readonly Offer[],
  link: LinkPrivacy,
  ports: SecretPorts,
): Promise<readonly Offer[]> {
  if (!needSecrets(offers)) return offers
  return Promise.all(
    offers.map(async offer =>
      offer.spec.secrets.length === 0 ? offer : { ...offer, secrets: await secretsFor(offer, link, ports) },
    ),
  )
}

async function secretsFor(offer: Offer, link: LinkPrivacy, ports: SecretPorts): Promise<OfferedSecrets> {
  if (!link.isPrivate) {
    const withheld = `secrets travel over TLS or within one machine only, this worker is connected without TLS from ${link.from}; start the hub with --insecure-secrets to send them anyway`
    return { withheld, final: false }
  }
  const owner = await ports.engine.read(state => {
    const bucket = state.active.get(offer.fence.job)?.bucket
    return bucket === undefined ? null : (state.buckets.get(bucket)?.owner ?? null)
  })
  if (owner === null) return { withheld: 'the attempt is over', final: false }
  const found = await Promise.all(offer.spec.secrets.map(use => openOne(owner, use.name, ports)))
  const problem = found.find(each => typeof each === 'string')
  if (problem !== undefined) return { withheld: problem, final: true }
  return {
    given: offer.spec.secrets.map((use, index) => ({
      ...use,
      value: Buffer.from(found[index] ?? '').toString('base64'),
    })),
  }
}

/** The value, or the sentence why there is none. */
async function openOne(owner: string, name: string, ports: SecretPorts): Promise<Uint8Array | string> {
  const row = await ports.queries.secret(owner, name)
  if (row === null) return `secret ${name} of ${owner} was removed after the job was submitted`
  try {
    return await ports.openSecret(owner, name, row.sealed)
  } catch (error) {
    return `secret ${name} of ${owner} cannot be opened: ${error instanceof Error ? error.message : String(error)}`
  }
}
