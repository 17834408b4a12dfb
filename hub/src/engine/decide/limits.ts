import type { Command, Facts, Replies } from '../commands.ts'
import { limitsOf } from '../owner-limits.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'

type SetLimits = Extract<Command, { kind: 'setLimits' }>

/** What runs or waits above a new limit stays; nothing is added until there is room. */
export function decideSetLimits(
  state: State,
  { owner, limits }: SetLimits,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['setLimits'] {
  const { queued, running, gpus, bytes } = limitsOf(state, owner)
  const isSame =
    queued === limits.queued && running === limits.running && gpus === limits.gpus && bytes === limits.bytes
  if (!isSame) emit.change({ c: 'ownerLimits', owner, limits, at: now.wall })
  return null
}
