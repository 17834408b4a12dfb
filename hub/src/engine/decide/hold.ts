import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'

type Of<K extends Command['kind']> = Extract<Command, { kind: K }>

/** Whoever holds first is named; a lost attempt of a held job is not taken back. */
export function decideHold(
  state: State,
  { job, by }: Of<'hold'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['hold'] {
  const waiting = state.waiting.get(job)
  if (waiting === undefined && !state.queued.has(job)) return { effect: state.active.has(job) ? 'active' : 'ended' }
  if (waiting === undefined || waiting.heldBy === null) emit.change({ c: 'held', job, by, at: now.wall })
  return { effect: 'done' }
}

/** A job that is not held stays as it is: asking twice is harmless. */
export function decideRelease(
  state: State,
  { job, by }: Of<'release'>,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['release'] {
  const waiting = state.waiting.get(job)
  if (waiting === undefined && !state.queued.has(job)) return { effect: state.active.has(job) ? 'active' : 'ended' }
  if (waiting !== undefined && waiting.heldBy !== null) emit.change({ c: 'holdLifted', job, by, at: now.wall })
  return { effect: 'done' }
}
