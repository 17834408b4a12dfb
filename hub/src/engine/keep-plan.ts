import type { Plan } from '../scheduler/policy.ts'
import type { Now, State } from './state.ts'

/** What a plan leaves for the next one to know; none of it is durable, a restarted hub finds it out again. */
export function keepPlan(state: State, plan: Plan, now: Now): void {
  for (const [bucket, job] of plan.heads) {
    if (job === null) state.waitingHeads.delete(bucket)
    else if (state.waitingHeads.get(bucket)?.job !== job) state.waitingHeads.set(bucket, { job, since: now.lease })
  }
  state.reservations.held = plan.reservations
  if (plan.hasLooked) {
    state.reservations.lookedAt = now.lease
    for (const bucket of state.waitingHeads.keys())
      if (state.queued.sizeOf(bucket) === 0) state.waitingHeads.delete(bucket)
  }
  for (const worker of plan.again) if (state.workers.has(worker)) state.dirtyWorkers.add(worker)
}
