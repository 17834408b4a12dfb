import type { JobSpec } from '../job-spec.ts'
import type { Offer, Offers } from './messages.ts'

/** Since this minor a worker understands offers that share specs. */
const SHARED_SPECS_MINOR = 1

/** Offers as they travel: a spec that several jobs have is said once, to a worker that understands it. */
export function packOffers(offers: readonly Offer[], workerMinor: number): Offers {
  if (workerMinor < SHARED_SPECS_MINOR) return { t: 'offers', offers: [...offers] }
  const places = new Map<JobSpec, number>()
  const packed = offers.map(offer => {
    const place = places.get(offer.spec) ?? places.size
    places.set(offer.spec, place)
    return { ...offer, spec: place }
  })
  return { t: 'offers', specs: [...places.keys()], offers: packed }
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
