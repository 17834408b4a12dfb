import { Refused } from '@stoker/protocol'
import type { FastifyInstance } from 'fastify'
import { ProvidersQuery } from './bodies.ts'
import { callerOf, LOOKERS, PROVIDERS } from './caller.ts'
import type { ConsumerDesk } from './desk.ts'
import { knownProvider } from './estimate.ts'
import { type Provider, viewProvider, viewProviderDetails } from './provider-views.ts'
import { readAs } from './read-body.ts'

interface ById {
  Params: { id: string }
}

/** Who offers what, and pausing an offer. */
export function addProviderRoutes(scope: FastifyInstance, desk: ConsumerDesk): void {
  const { context, tally } = desk

  scope.get('/api/providers', async request => {
    await callerOf(context, request, LOOKERS)
    const query = readAs(ProvidersQuery, request.query)
    const view = query.details === 'true' ? viewProviderDetails : viewProvider
    const jobs = await tally.counts()
    const providers = await desk.providers()
    return providers.filter(provider => isWanted(provider, query)).map(each => view(each, jobs.get(each.id) ?? 0))
  })

  scope.get<ById>('/api/providers/:id', async request => {
    await callerOf(context, request, LOOKERS)
    const jobs = await tally.counts()
    const provider = knownProvider(await desk.providers(), request.params.id)
    return viewProviderDetails(provider, jobs.get(provider.id) ?? 0)
  })

  for (const [verb, on] of [
    ['pause', true],
    ['resume', false],
  ] as const) {
    scope.post<ById>(`/api/providers/:id/${verb}`, async request => {
      const caller = await callerOf(context, request, PROVIDERS)
      const { id, worker } = knownProvider(await desk.providers(), request.params.id)
      if (caller.role !== 'admin' && worker.facts.owner !== caller.owner)
        throw new Refused('auth.forbidden', `provider ${id} belongs to another; its owner or an admin can ${verb} it`)
      await context.engine.execute({ kind: 'drain', worker: id, on })
      const jobs = await tally.counts()
      const provider = viewProvider(knownProvider(await desk.providers(), id), jobs.get(id) ?? 0)
      return { success: true, provider }
    })
  }
}

function isWanted(provider: Provider, query: ProvidersQuery): boolean {
  const { gpuModel, minVram, maxVram, minPrice, maxPrice, location, availability } = query
  const { gpus, vramGb, pricePerHour, isOnline, isFree } = provider
  const isThere = { all: true, online: isOnline, offline: !isOnline, available: isFree, busy: isOnline && !isFree }
  return (
    isThere[availability] &&
    (gpuModel === undefined || gpus.some(({ model }) => contains(model, gpuModel))) &&
    (minVram === undefined || vramGb >= minVram) &&
    (maxVram === undefined || vramGb <= maxVram) &&
    (minPrice === undefined || pricePerHour >= minPrice) &&
    (maxPrice === undefined || pricePerHour <= maxPrice) &&
    (location === undefined || contains(provider.location ?? '', location))
  )
}

function contains(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase())
}
