import type { Held, HeldBy } from './held.ts'

let made = 0

/** A running attempt nobody heard of since the start of time. */
export function aHeldOne(over: Partial<Held> = {}): Held {
  made += 1
  const id = `job-${made}`
  const fence = { job: made, epoch: 1, attempt: 1 }
  const quiet = { polledAt: null, checkedInAt: null, timeoutMs: null, isUnconfirmed: false }
  return { id, fence, phase: 'running', gpus: 0, since: 0, runner: '', ...quiet, ...over }
}

export function aHolder(held: readonly Held[], over: Partial<HeldBy> = {}): HeldBy {
  return { maxJobs: 4, heardAt: 0, held, ...over }
}
