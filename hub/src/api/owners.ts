import { NewOwnerLimits, NO_LIMITS, Owner, OwnerLimits, OwnerName, OwnerPage, Problem } from '@stoker/protocol'
import { z } from 'zod'
import { limitsOf } from '../engine/owner-limits.ts'
import type { State } from '../engine/state.ts'
import type { Blobs } from '../outputs/artifacts/port.ts'
import { callerOf, guard, ownerScope } from './auth.ts'
import type { Api, RouteContext } from './context.ts'
import { countJobs } from './service.ts'

const errors = { '4xx': Problem, '5xx': Problem }
const tags = ['owners']
const OwnerRef = z.object({ owner: OwnerName })
const ListQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor: OwnerName.optional(),
})

export function addOwnerRoutes(api: Api, { engine, tokens, blobs }: RouteContext): void {
  const see = guard(tokens, ['admin', 'submit', 'read'])
  const rule = guard(tokens, ['admin'])

  api.get('/api/v1/owners', {
    schema: {
      summary: 'List owners with their jobs, what they use and their limits; all for an admin, else oneself',
      tags,
      querystring: ListQuery,
      response: { 200: OwnerPage, ...errors },
    },
    onRequest: see,
    handler: request => {
      const { limit, cursor = '' } = request.query
      const only = ownerScope(callerOf(request), undefined)
      return engine.read(state => {
        const names = only === null ? ownersOf(state) : [only]
        const later = names.filter(name => name > cursor)
        const page = later.slice(0, limit)
        const next = later.length > limit ? (page.at(-1) ?? null) : null
        return { owners: page.map(name => viewOwner(state, blobs, name)), next }
      })
    },
  })

  api.get('/api/v1/owners/:owner', {
    schema: { summary: 'Show an owner', tags, params: OwnerRef, response: { 200: Owner, ...errors } },
    onRequest: see,
    handler: request => {
      const owner = ownerScope(callerOf(request), request.params.owner) ?? request.params.owner
      return engine.read(state => viewOwner(state, blobs, owner))
    },
  })

  api.get('/api/v1/owners/:owner/limits', {
    schema: {
      summary: 'Show the limits of an owner',
      tags,
      params: OwnerRef,
      response: { 200: OwnerLimits, ...errors },
    },
    onRequest: see,
    handler: request => {
      const owner = ownerScope(callerOf(request), request.params.owner) ?? request.params.owner
      return engine.read(state => limitsOf(state, owner))
    },
  })

  api.put('/api/v1/owners/:owner/limits', {
    schema: {
      summary: 'Set the limits of an owner; what is left out or null is no limit',
      tags,
      params: OwnerRef,
      body: NewOwnerLimits,
      response: { 200: OwnerLimits, ...errors },
    },
    onRequest: rule,
    handler: async request => {
      await engine.execute({ kind: 'setLimits', owner: request.params.owner, limits: request.body })
      return request.body
    },
  })

  api.delete('/api/v1/owners/:owner/limits', {
    schema: {
      summary: 'Remove all limits of an owner',
      tags,
      params: OwnerRef,
      response: { 204: z.null(), ...errors },
    },
    onRequest: rule,
    handler: async (request, reply) => {
      await engine.execute({ kind: 'setLimits', owner: request.params.owner, limits: NO_LIMITS })
      return reply.code(204).send(null)
    },
  })
}

/** Everyone who has or had jobs, has limits, or owns a token. */
function ownersOf({ counters, limits, tokens }: State): string[] {
  const named = [...tokens.values()].map(token => token.owner)
  return [...new Set([...counters.keys(), ...limits.keys(), ...named])].sort()
}

function viewOwner(state: State, blobs: Blobs, owner: string): Owner {
  const { slots: running, devices: gpus } = state.ownerUses.get(owner)?.now ?? { slots: 0, devices: 0 }
  return {
    owner,
    counts: countJobs(state, owner),
    running,
    gpus,
    bytes: blobs.bytesOf(owner),
    limits: limitsOf(state, owner),
  }
}
