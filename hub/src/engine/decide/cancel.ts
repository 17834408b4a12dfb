import type { Command, Facts, Replies } from '../commands.ts'
import type { Now, State } from '../state.ts'
import type { Emit } from './emit.ts'

type Withdraw = Extract<Command, { kind: 'withdraw' }>
type Cancel = Extract<Command, { kind: 'cancel' }>

/** A job without an attempt ends at once; an active one is asked to stop. Whoever asks first is named; a job that is not live has ended. */
export function decideCancel(
  state: State,
  { job, by }: Cancel,
  _facts: Facts,
  now: Now,
  emit: Emit,
): Replies['cancel'] {
  if (state.queued.has(job) || state.waiting.has(job)) {
    emit.change({ c: 'ended', job, state: 'canceled', reason: `canceled by ${by}`, at: now.wall })
    return { effect: 'canceled' }
  }
  const active = state.active.get(job)
  if (active === undefined) return { effect: 'ended' }
  if (active.cancelBy === null) emit.change({ c: 'stopRequested', job, by: `canceled by ${by}`, at: now.wall })
  return { effect: 'stopping' }
}

export function decideWithdraw(
  state: State,
  { job, by }: Withdraw,
  facts: Facts,
  now: Now,
  emit: Emit,
): Replies['withdraw'] {
  if (state.active.has(job)) return { effect: 'running' }
  const { effect } = decideCancel(state, { kind: 'cancel', job, by }, facts, now, emit)
  return { effect: effect === 'canceled' ? 'canceled' : 'ended' }
}
