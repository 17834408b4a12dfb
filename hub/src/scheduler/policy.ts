import type { Now, State } from '../engine/state.ts'

/** What a policy may see: live state, read-only. */
export type View = Readonly<
  Pick<
    State,
    'buckets' | 'queued' | 'workers' | 'devices' | 'dirtyBuckets' | 'dirtyWorkers' | 'limits' | 'use' | 'groups'
  >
>

/** One job given to one worker, with the devices it gets. */
export interface Placement {
  readonly job: number
  readonly bucket: number
  readonly worker: string
  readonly gpus: readonly string[]
}

/** A policy looks at what changed since the last pass and says what starts where. It never changes what it sees. */
export interface Policy {
  readonly name: string
  plan(view: View, now: Now): readonly Placement[]
}
