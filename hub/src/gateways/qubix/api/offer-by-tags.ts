import { z } from 'zod'
import type { WorkerState } from '../../../engine/state.ts'
import type { ProviderOffer } from './context.ts'

/** What the gateway of workers remembers of a registration, as far as customers may see it. */
const Registered = z.object({
  address: z.string().optional().catch(undefined),
  pricePerHour: z.number().min(0).optional().catch(undefined),
  location: z.string().optional().catch(undefined),
  computePower: z.number().min(0).optional().catch(undefined),
  workerId: z.string().optional().catch(undefined),
})

/** What a provider offers: its registration, else tags such as `location:Berlin` and `price:2.5`, which any worker can have. */
export function offerByTags({ note, facts }: WorkerState): ProviderOffer {
  const said = facts.dialect === undefined ? undefined : Registered.safeParse(note).data
  const price = Number(tagged(facts.tags, 'price') ?? Number.NaN)
  return {
    ...said,
    location: said?.location ?? tagged(facts.tags, 'location'),
    pricePerHour: said?.pricePerHour ?? (price >= 0 && Number.isFinite(price) ? price : undefined),
  }
}

function tagged(tags: readonly string[], name: string): string | undefined {
  return tags.find(tag => tag.startsWith(`${name}:`))?.slice(name.length + 1)
}
