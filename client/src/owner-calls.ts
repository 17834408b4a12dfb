import { Owner, OwnerLimits, OwnerPage } from '@stoker/protocol'
import type { Caller } from './caller.ts'
import { queryText } from './query.ts'

/** What can be asked about owners and their limits. */
export function ownerCalls(caller: Caller) {
  const path = (owner: string) => `/api/v1/owners/${encodeURIComponent(owner)}`
  return {
    owners: (of: { readonly limit?: number; readonly cursor?: string } = {}): Promise<OwnerPage> =>
      caller.json({ method: 'GET', path: `/api/v1/owners${queryText(of)}`, repeatable: true }, OwnerPage),
    owner: (owner: string): Promise<Owner> =>
      caller.json({ method: 'GET', path: path(owner), repeatable: true }, Owner),
    setLimits: (owner: string, limits: Partial<OwnerLimits>): Promise<OwnerLimits> =>
      caller.json(
        { method: 'PUT', path: `${path(owner)}/limits`, repeatable: true, body: JSON.stringify(limits) },
        OwnerLimits,
      ),
    async removeLimits(owner: string): Promise<void> {
      await caller.text({ method: 'DELETE', path: `${path(owner)}/limits`, repeatable: true })
    },
  }
}
