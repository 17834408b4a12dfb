import { Refused } from '@stoker/protocol'
import type { Command, Facts, Replies } from '../commands.ts'
import type { GroupState } from '../groups.ts'
import type { Now, State } from '../state.ts'
import { decideCancel } from './cancel.ts'
import type { Emit } from './emit.ts'

type CancelGroup = Extract<Command, { kind: 'cancelGroup' }>

/** All members that have not ended, in one commit. */
export function decideCancelGroup(
  state: State,
  { group: id, by }: CancelGroup,
  facts: Facts,
  now: Now,
  emit: Emit,
): Replies['cancelGroup'] {
  const group = state.groups.get(id)
  if (group === undefined) throw new Refused('group.ended', `all jobs of group ${id} have ended; none can be canceled`)
  return cancelMembers(state, group, by, facts, now, emit)
}

export function cancelMembers(
  state: State,
  { firstSeq, size }: GroupState,
  by: string,
  facts: Facts,
  now: Now,
  emit: Emit,
): Replies['cancelGroup'] {
  const done = { canceled: 0, stopping: 0 }
  for (let job = firstSeq; job < firstSeq + size; job += 1) {
    const { effect } = decideCancel(state, { kind: 'cancel', job, by }, facts, now, emit)
    if (effect !== 'ended') done[effect] += 1
  }
  return done
}
