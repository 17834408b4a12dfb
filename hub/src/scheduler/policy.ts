import type { PolicyName } from '@stoker/protocol'
import type { Now, State } from '../engine/state.ts'
import type { Reservation } from './reservation.ts'

/** What a policy may see: live state, read-only. */
export type View = Readonly<
  Pick<
    State,
    | 'queued'
    | 'workers'
    | 'active'
    | 'devices'
    | 'quarantined'
    | 'deviceNews'
    | 'ownerUses'
    | 'fleet'
    | 'untouched'
    | 'waitingHeads'
    | 'reservations'
    | 'dirtyBuckets'
    | 'dirtyWorkers'
    | 'limits'
    | 'groups'
  >
> & { readonly buckets: Pick<State['buckets'], 'get'> }

/** One job given to one worker, with the devices it gets. */
export interface Placement {
  readonly job: number
  readonly bucket: number
  readonly worker: string
  readonly gpus: readonly string[]
}

/** What starts where, and what the next pass should know. */
export interface Plan {
  readonly placements: readonly Placement[]
  /** Of each bucket that was looked at: its oldest job that could not start, or null. */
  readonly heads: ReadonlyMap<number, number | null>
  readonly reservations: readonly Reservation[]
  /** Whether the reservations were thought over, not only kept. */
  readonly hasLooked: boolean
  /** Workers that others may use again, to be looked at in the next pass. */
  readonly again: readonly string[]
}

/** A policy looks at what changed since the last pass and says what starts where. It never changes what it sees. */
export interface Policy {
  readonly name: PolicyName
  plan(view: View, now: Now): Plan
}
