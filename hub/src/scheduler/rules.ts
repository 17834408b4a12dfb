import type { Rules } from '../engine/decide/emit.ts'
import { shapeOf } from '../engine/shape-of.ts'
import { limitReason } from './limits.ts'
import { unschedulable } from './unschedulable.ts'

/** What the engine asks the scheduler while it decides. */
export const schedulingRules: Rules = {
  unschedulable: (state, bucket) => {
    const known = state.buckets.get(bucket)
    return known === undefined ? null : (unschedulable(state, known.shape) ?? limitReason(state, known))
  },
  unschedulableSpec: (state, job) => unschedulable(state, shapeOf(job.spec)),
}
