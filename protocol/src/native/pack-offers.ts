import type { JobSpec } from '../job-spec.ts'
import { specRecord } from '../spec-record.ts'
import type { HubMessage, Offer, Offers } from './messages.ts'

/** Offers as they travel: a spec that several jobs have is said once. */
export function packOffers(offers: readonly Offer[]): Offers {
  const places = new Map<JobSpec, number>()
  const packed = offers.map(offer => {
    const place = places.get(offer.spec) ?? places.size
    places.set(offer.spec, place)
    return { ...offer, spec: place }
  })
  return { t: 'offers', specs: [...places.keys()], offers: packed }
}

/** A message as it travels: specs leave out what says nothing, which every worker of this major since minor 2 puts back. */
export function textOfMessage(message: HubMessage): string {
  if (message.t !== 'offers' || message.specs === undefined) return JSON.stringify(message)
  return JSON.stringify({ ...message, specs: message.specs.map(specRecord) })
}

/** The offers of a message that was read, each with its spec; jobs that shared one on the way share it still. */
export function unpackOffers({ specs = [], offers }: Offers): readonly Offer[] {
  return offers.map(offer => ({ ...offer, spec: typeof offer.spec === 'number' ? at(specs, offer.spec) : offer.spec }))
}

function at(specs: readonly JobSpec[], place: number): JobSpec {
  const spec = specs[place]
  if (spec === undefined) throw new Error(`an offer names spec ${place}, the message has ${specs.length}`)
  return spec
}
