import type { Rules } from '../engine/decide/emit.ts'
import { shapeOf } from '../engine/shape-of.ts'
import { claimable } from './claimable.ts'
import { evictions } from './evictions.ts'
import { limitReason } from './limits.ts'
import { planTasks } from './plan-tasks.ts'
import { unschedulable } from './unschedulable.ts'

/** What the engine asks the scheduler while it decides. */
export const schedulingRules: Rules = {
  unschedulable: (state, bucket) => {
    const known = state.buckets.get(bucket)
    return known === undefined || known.shape.target !== null
      ? null
      : (unschedulable(state, known.shape) ?? limitReason(state, known))
  },
  unschedulableSpec: (state, job) => (job.spec.task === null ? unschedulable(state, shapeOf(job.spec)) : null),
  planTasks,
  claimable,
  evictions,
}
